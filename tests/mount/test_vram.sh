#!/bin/bash
# dd to vram below and above the window, across its edge, unaligned, and at the end.
. "$(dirname "$0")/lib.sh"
requires dd cmp
in_mount

MIB=1048576
head -c 200000 /dev/urandom >"$TMP/data"

# round OFFSET LENGTH - write, read back.
round() {
	head -c "$2" "$TMP/data" >"$TMP/want"
	dd if="$TMP/want" of=vram bs=64k oflag=seek_bytes seek="$1" conv=notrunc status=none ||
		fail "write of $2 bytes at $1"
	dd if=vram of="$TMP/got" bs=64k iflag=skip_bytes,count_bytes skip="$1" count="$2" status=none
	same "vram at $1" "$TMP/want" "$TMP/got"
}

round $((64 * MIB)) 200000        # inside the window
round $((64 * MIB + 4097)) 1      # one byte
round $((64 * MIB + 8193)) 5      # odd address, odd length
round $((64 * MIB + 12288)) 4     # the length a bridge store must not have
round $((1024 * MIB)) 100000      # above it
round $((1024 * MIB + 200001)) 3
round $((256 * MIB - 50000)) 100000 # across the edge
round $((8192 * MIB - 4096)) 4096 # the last page

expect "size" $((8192 * MIB)) "$(stat -c %s vram)"
expect "read at the end" 0 "$(dd if=vram bs=4096 iflag=skip_bytes skip=$((8192 * MIB)) status=none | wc -c)"
expect "read across the end" 100 \
	"$(dd if=vram bs=4096 iflag=skip_bytes skip=$((8192 * MIB - 100)) status=none | wc -c)"
refuses "No space left" dd if="$TMP/data" of=vram bs=16 count=1 oflag=seek_bytes \
	seek=$((8192 * MIB)) conv=notrunc status=none
refuses "No space left" dd if="$TMP/data" of=vram bs=4096 count=1 oflag=seek_bytes \
	seek=$((8192 * MIB - 100)) conv=notrunc status=none
works dd if="$TMP/data" of=vram bs=4096 count=1 oflag=seek_bytes seek=$((64 * MIB)) conv=notrunc,fsync status=none
finish
