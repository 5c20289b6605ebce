#!/bin/bash
# A full VRAM is a precise error that changes nothing.
. "$(dirname "$0")/lib.sh"
requires truncate dd
in_mount

printf 'keep' >buffers/small
refuses "No space left" truncate -s 8G buffers/small
refuses "File too large" truncate -s 9G buffers/small
expect "size after the refusals" 4 "$(stat -c %s buffers/small)"
expect "bytes after the refusals" keep "$(cat buffers/small)"
refuses "No space left" fallocate -l 8G buffers/small
refuses "File too large" dd if=/dev/zero of=buffers/small bs=1 count=1 seek=9G conv=notrunc status=none
expect "bytes after more refusals" keep "$(cat buffers/small)"
printf 'more' >buffers/other || fail "a small buffer no longer fits"
expect "state" ready "$(value status state)"

# temporary names have their own limit
head -c 17000000 /dev/zero >"$TMP/big"
refuses "No space left" cp "$TMP/big" kernels/big.tmp
rm -f kernels/big.tmp
head -c 5000000 /dev/zero >"$TMP/source"
refuses "File too large" cp "$TMP/source" kernels/big.cl
finish
