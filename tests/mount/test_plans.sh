#!/bin/bash
# plans/: load, run, stop, streams, poll, refusals.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires cp od
in_mount
make_plan

for f in status run input loss pm4.bin pm4.txt; do [ -e plans/p/$f ] || fail "plans/p/$f is missing"; done
expect "state" resident "$(value plans/p/status state)"
expect "pm4.bin holds whole dwords" 0 $(($(stat -c %s plans/p/pm4.bin) % 4))
grep -q DISPATCH plans/p/pm4.txt || fail "pm4.txt shows no dispatch"

# one descriptor: write, then read lines until the end
exec 3<>plans/p/run
refuses "busy" sh -c 'echo 1 >plans/p/run'
printf '2\n3\n' >&3
cat <&3 >"$TMP/lines"
grep -q '"seq":1,"steps":2,"ok":true' "$TMP/lines" || fail "first submission: $(cat "$TMP/lines")"
grep -q '"seq":2,"steps":3,"ok":true' "$TMP/lines" || fail "second submission: $(cat "$TMP/lines")"
expect "sum after 5 steps" 5 "$(sums)"
expect "loss lines" 5 "$(wc -l <plans/p/loss)"
expect "steps_done" 5 "$(value plans/p/status steps_done)"
for bad in 0 -1 pig 1x '1 2' ' 1' ' -1' '1\x00x'; do
	refuses "Invalid argument" "$PYTHON" -c "import os; os.write(3, b'$bad\n')"
done
"$PYTHON" - <<'P' || fail "more lines than the queue holds"
import os
got = os.write(3, b'1\n' * 70)
if got != 128:
    raise SystemExit('expected the 64 lines that were queued, 128 bytes, got %d' % got)
P
cat <&3 >"$TMP/lines"
expect "submissions of a short write" 64 "$(grep -c '"steps":1,"ok":true' "$TMP/lines")"
expect "sum after 69 steps" 69 "$(sums)"
exec 3>&-
eventually 60 sh -c 'echo 1 >plans/p/run' || fail "run cannot be opened again after its close"

# pinned things stay
refuses "busy" rm buffers/sum
refuses "busy" truncate -s 1 buffers/sum
refuses "busy" rm kernels/add.co
refuses "not permitted" mv plans/p.json plans/q.json
refuses "Invalid argument" cp "$TMP/p.json" plans/p/input

# replacing is atomic, a bad one leaves the old
sed 's/add:add/add:nope/' "$TMP/p.json" >"$TMP/bad.json"
refuses "" cp "$TMP/bad.json" plans/bad.json
grep -q 'steps\[0\]' plans/bad/status || fail "status does not name the place: $(value plans/bad/status error)"
expect "state of a bad plan" failed "$(value plans/bad/status state)"
refuses "" cp "$TMP/bad.json" plans/p.json
expect "the old plan stays" resident "$(value plans/p/status state)"
printf '{ "format": ' >"$TMP/torn.json"
refuses "Invalid argument" cp "$TMP/torn.json" plans/torn.json
works cp "$TMP/p.json" plans/upload.tmp
works mv plans/upload.tmp plans/p.json
expect "a fresh plan" 0 "$(value plans/p/status steps_done)"

"$PYTHON" - <<'P' || fail "poll on run"
import os, select, sys
fd = os.open('plans/p/run', os.O_RDWR | os.O_NONBLOCK)
p = select.poll()
p.register(fd, select.POLLIN | select.POLLOUT)
if not p.poll(60000):
    sys.exit('run: expected OUT when idle')
os.write(fd, b'4\n')
p.modify(fd, select.POLLIN)
lines = b'{"seq":1,"done":'
while b'"done":' in lines:  # after 5 s without a result lines of progress come first
    if not p.poll(120000):
        sys.exit('run: expected IN when the steps are done')
    lines = os.read(fd, 4096)
if b'"steps":4,"ok":true' not in lines or os.read(fd, 10) != b'':
    sys.exit('run: expected one line, then the end')
P

# a hang in the second step: the first one counts, and nobody claims that weights are whole
cat >"$TMP/hang.cl" <<'K'
kernel void hang(global volatile float *sum) { while (sum[1] >= 1) ; sum[1] += 1; }
K
works compile "$TMP/hang.cl"
head -c 1024 /dev/zero >buffers/hung
step='{ "kernel": "hang:hang", "groups": [1], "group": [1], "args": { "sum": "hung" } }'
echo '{ "format": "rx580-plan-1", "deadline_s": 1, "steps": ['"$step"'], "update": ['"$step"'] }' >plans/hang.json
exec 3<>plans/hang/run
echo 3 >&3
cat <&3 >"$TMP/lines"
exec 3>&-
grep -q '"steps":0,"ok":false.*deadline_s' "$TMP/lines" || fail "a hang in update: $(cat "$TMP/lines")"
grep -q 'hang: step 0 failed: .*half changed' log || fail "the log says of a hang in update: $(tail -1 log)"
works rm plans/hang.json
# the first step has to be done in time on a busy machine, too
echo '{ "format": "rx580-plan-1", "deadline_s": 8, "steps": ['"$step"'] }' >plans/hang.json
works dd if=/dev/zero of=buffers/hung bs=1024 count=1 conv=notrunc status=none
exec 3<>plans/hang/run
echo 3 >&3
cat <&3 >"$TMP/lines"
exec 3>&-
grep -q '"steps":1,"ok":false.*deadline_s' "$TMP/lines" || fail "a hang in the second step: $(cat "$TMP/lines")"

works rm plans/*.json
expect "left" "" "$(ls plans)"
works rm buffers/sum
works rm buffers/hung
works rm kernels/add.co
finish
