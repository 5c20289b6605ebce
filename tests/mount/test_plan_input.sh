#!/bin/bash
# plans/NAME/input: records, back-pressure, partial records, clients that are blocked or killed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires cp od timeout
in_mount
make_plan '"input": { "scalars": 2, "ids": 4 },'
BYTES=$(value plans/p/status input_bytes)
expect "bytes of a record" 16 "$BYTES"

records() { head -c $((BYTES * $1)) /dev/zero; }

records 3 >plans/p/input
expect "slots free" 13 "$(value plans/p/status input_free)"
exec 3<>plans/p/run
echo 5 >&3
eventually 60 sh -c '[ "$(sed -n "s/^steps_done //p" plans/p/status)" = 3 ]' || fail "3 records are there, but not 3 steps done"

# a record may span writes of one descriptor
"$PYTHON" - <<'P' || fail "a record in pieces"
import os
fd = os.open('plans/p/input', os.O_WRONLY)
for n in (7, 9, 16):
    os.write(fd, bytes(n))
os.close(fd)
P
line=$(timeout 120 tail -n 1 <&3) # lines of progress may come first
case $line in *'"steps":5,"ok":true'*) ;; *) fail "run: expected 5 good steps, got '$line'" ;; esac
expect "sum" 5 "$(sums)"
records 1 | head -c 10 >"$TMP/part"
refuses "Invalid argument" cp "$TMP/part" plans/p/input
expect "a partial record is dropped" 16 "$(value plans/p/status input_free)"

# full: non-blocking, poll, a blocked writer that is killed, one that is let go
records 16 >plans/p/input
"$PYTHON" - <<'P' || fail "a full input"
import errno, os, select, sys
fd = os.open('plans/p/input', os.O_WRONLY | os.O_NONBLOCK)
try:
    os.write(fd, bytes(16))
    sys.exit('expected EAGAIN')
except BlockingIOError:
    pass
p = select.poll()
p.register(fd, select.POLLOUT)
if p.poll(200):
    sys.exit('expected no OUT while all slots are taken')
P
records 1 >"$TMP/one"
dd if="$TMP/one" of=plans/p/input bs=16 conv=notrunc status=none &
P=$!
sleep 0.5
kill -0 $P 2>/dev/null || fail "a writer to a full input does not block"
kill -INT $P
kill -9 $P
ended() { ! kill -0 $P 2>/dev/null; }
eventually 60 ended || fail "a blocked writer cannot be killed"
wait $P 2>/dev/null
expect "slots free" 0 "$(value plans/p/status input_free)"
refuses "timed out" timeout 120 dd if="$TMP/one" of=plans/p/input bs=16 conv=notrunc status=none
records 2 >"$TMP/two"
dd if="$TMP/two" of=plans/p/input bs=32 conv=notrunc status=none &
P=$!
sleep 0.3
echo 10 >&3
eventually 60 ended || fail "the blocked writer was not let go when slots became free"
timeout 120 cat <&3 >/dev/null
expect "slots free after 10 steps" 8 "$(value plans/p/status input_free)"

# stop, and a reader that is killed while it waits
echo 100 >&3
eventually 60 sh -c '[ "$(sed -n "s/^input_free //p" plans/p/status)" = 16 ]' || fail "inputs are left over"
cat <&3 >/dev/null &
P=$!
sleep 0.5
kill -9 $P
eventually 60 ended || fail "a blocked reader cannot be killed"
wait $P 2>/dev/null
expect "still running" running "$(value plans/p/status state)"
refuses "busy" rm plans/p.json
echo stop >&3
line=$(timeout 120 tail -n 1 <&3)
case $line in *'"ok":false'*'"error":"stopped"'*) ;; *) fail "after stop: got '$line'" ;; esac
expect "state after stop" resident "$(value plans/p/status state)"

# the writer goes away: what has not started is cancelled
echo 100 >&3
exec 3>&-
eventually 60 sh -c '[ "$(sed -n "s/^state //p" plans/p/status)" = resident ]' || fail "steps are still allowed after the writer went"
works rm plans/p.json
finish
