#!/bin/bash
# buffers/: the life of a buffer with ordinary tools.
. "$(dirname "$0")/lib.sh"
requires truncate fallocate dd cmp python:numpy
in_mount

head -c 150000 /dev/urandom >"$TMP/a"
works cp "$TMP/a" buffers/a
same "copied in" "$TMP/a" buffers/a
works cp buffers/a buffers/b
same "copied on the card" "$TMP/a" buffers/b
printf 'tail' >>buffers/a
cat "$TMP/a" >"$TMP/want"
printf 'tail' >>"$TMP/want"
same "appended" "$TMP/want" buffers/a
works truncate -s 10 buffers/a
expect "shortened" 10 "$(stat -c %s buffers/a)"
works truncate -s 4096 buffers/a
head -c 10 "$TMP/a" >"$TMP/want"
head -c 4086 /dev/zero >>"$TMP/want"
same "lengthened with zeros" "$TMP/want" buffers/a
works fallocate -l 8192 buffers/a
expect "fallocate" 8192 "$(stat -c %s buffers/a)"
works mv buffers/a buffers/c
[ ! -e buffers/a ] || fail "the old name is still there"
works mv buffers/b buffers/c
same "renamed over" "$TMP/a" buffers/c
refuses "File exists" "$PYTHON" -c "import os; os.open('buffers/c', os.O_CREAT | os.O_EXCL | os.O_WRONLY)"
refuses "Invalid argument" touch "buffers/a b"
refuses "Invalid argument" touch buffers/.hidden
refuses "not permitted" mkdir buffers/d
refuses "not permitted" ln -s x buffers/l
works chmod 600 buffers/c
expect "mode kept" 600 "$(stat -c %a buffers/c)"
works touch -d @1000000000 buffers/c
expect "time kept" 1000000000 "$(stat -c %Y buffers/c)"
grep -q 'buffers/c$' maps || fail "maps does not show buffers/c"

# open files outlive their name
exec 3<buffers/c
works rm buffers/c
cat <&3 >"$TMP/got"
same "removed while open" "$TMP/a" "$TMP/got"
exec 3<&-
gone() { ! grep -q ' b ' maps; }
eventually 60 gone || fail "memory is not given back after the last close: $(grep ' b ' maps)"

"$PYTHON" - <<'P' || fail "Python on buffers"
import numpy as np, os, sys
x = np.arange(1000, dtype=np.float32)
x.tofile('buffers/x')
ok = (np.fromfile('buffers/x', np.float32) == x).all() and (np.memmap('buffers/x', np.float32, 'c') == x).all()
os.setxattr('buffers/x', 'user.rx580.dtype', b'F32')
os.setxattr('buffers/x', 'user.rx580.shape', b'10,100')
ok = ok and os.getxattr('buffers/x', 'user.rx580.shape') == b'10,100'
ok = ok and int(os.getxattr('buffers/x', 'user.rx580.va'), 16) > 0
ok = ok and sorted(os.listxattr('buffers/x')) == ['user.rx580.dtype', 'user.rx580.shape', 'user.rx580.va']
try:
    os.setxattr('buffers/x', 'user.rx580.va', b'0')
    ok = False
except PermissionError:
    pass
fd = os.open('buffers/x', os.O_RDWR)
os.pwrite(fd, b'hole', 10000)
os.fsync(fd)
ok = ok and os.pread(fd, 6004, 4000) == bytes(6000) + b'hole'
sys.exit(not ok)
P
finish
