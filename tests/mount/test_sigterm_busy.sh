#!/bin/bash
# SIGTERM while clients read, write, compile and wait: exit 0, the mount is gone, nobody hangs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires mountpoint timeout
own_tmp
D=$TMP/mnt
mkdir "$D"
export TMPDIR=$TMP
"$BUILD/rx580fs" --card "$CARD" -f "$D" 2>"$TMP/err" &
PID=$!
trap 'cd /; fusermount3 -uqz "$D"; kill -9 $PID 2>/dev/null; rm -rf "$TMP"' EXIT
eventually 60 mountpoint -q "$D" || fail "not mounted: $(cat "$TMP/err")"

cd "$D" || exit 1
make_plan '"input": { "scalars": 2, "ids": 4 },'
clients=
(exec 3<>plans/p/run; echo 9 >&3; cat <&3) >/dev/null 2>&1 & clients="$clients $!"
(head -c 100000000 vram) >/dev/null 2>&1 & clients="$clients $!"
(head -c 50000000 /dev/zero >buffers/big) 2>/dev/null & clients="$clients $!"
(while cp "$TMP/add.cl" kernels/k.cl; do :; done) 2>/dev/null & clients="$clients $!"
cd /
sleep 1
RX580=$D check_card
kill -TERM $PID
stopped() { ! kill -0 $PID 2>/dev/null || [ "$(ps -o stat= -p $PID | cut -c1)" = Z ]; }
eventually 60 stopped || fail "the daemon still runs a minute after SIGTERM"
wait $PID
expect "exit status" 0 $?
mountpoint -q "$D" && fail "still mounted"
expect "left by the compiler" "" "$(find "$TMP" -maxdepth 1 -name 'rx580fs-*')"
for c in $clients; do
	over() { ! kill -0 "$c" 2>/dev/null; }
	eventually 60 over || fail "a client hangs: $(ps -o stat=,args= -p "$c")"
done
finish
