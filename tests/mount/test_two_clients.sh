#!/bin/bash
# Two clients at once, of the same and of different kinds; one of them killed in the middle.
. "$(dirname "$0")/lib.sh"
requires cmp cp
in_mount

for i in 1 2; do head -c 1000000 /dev/urandom >"$TMP/$i"; done
worker() {
	local i=$1
	for _ in 1 2 3; do
		cp "$TMP/$i" buffers/w$i && cmp "$TMP/$i" buffers/w$i || return 1
		cp buffers/w$i buffers/c$i && cmp "$TMP/$i" buffers/c$i || return 1
		[ "$(sed -n 's/^state //p' status)" = ready ] || return 1
	done
}
worker 1 & A=$!
worker 2 & B=$!
head -c 100000000 vram >/dev/null & C=$!
sleep 0.5
kill -9 $C
wait $A || fail "first client: wrong bytes or an error"
wait $B || fail "second client: wrong bytes or an error"
wait $C 2>/dev/null

# one file, two writers: every record is whole
"$PYTHON" - <<'P' || fail "two writers of one buffer"
import os, sys
with open('buffers/shared', 'wb') as f:
    f.truncate(64 * 256)
pids = []
for who in (1, 2):
    pid = os.fork()
    if pid == 0:
        fd = os.open('buffers/shared', os.O_RDWR)
        for i in range(who - 1, 256, 2):
            os.pwrite(fd, bytes([who]) * 64, 64 * i)
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
data = open('buffers/shared', 'rb').read()
sys.exit(data != (b'\1' * 64 + b'\2' * 64) * 128)
P
finish
