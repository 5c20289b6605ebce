#!/bin/bash
# A daemon killed while a plan runs: the next one finds plan, kernel, buffers and the frozen snapshot
# on the card, the plan at the end of a step, and lets it run on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires cmp od fusermount3
. "$(dirname "$0")/warm.sh"

# run_steps N - and wait until they are done.
run_steps() {
	exec 3<>plans/p/run
	echo "$1" >&3
	cat <&3 >"$TMP/lines"
	exec 3>&-
	grep -q '"ok":true' "$TMP/lines" || fail "run $1: $(cat "$TMP/lines")"
}

start_enclosure --card posted
start_daemon
cd "$D" || exit 1
make_plan ''
run_steps 5
echo "save early p cursor=17" >checkpoints/ctl || fail "save: $(tail -1 log)"
eventually 60 test -r checkpoints/early.safetensors || fail "no snapshot"
cp checkpoints/early.safetensors "$TMP/early"
cp kernels/add.co "$TMP/add.co"
chmod 0600 kernels/add.cl plans/p.json
chmod 0440 kernels/add.co checkpoints/early.safetensors
exec 3<>plans/p/run
echo 1000000 >&3
eventually 60 awk '$1 == "steps_done" { exit !($2 > 20) }' plans/p/status || fail "the plan does not run: $(cat plans/p/status)"
cd /
kill_daemon
exec 3>&-

start_daemon
expect "attach" warm "$(value "$D/status" attach)"
cd "$D" || exit 1
expect "state of the plan" resident "$(value plans/p/status state)"
expect "error of the plan" - "$(value plans/p/status error)"
done=$(value plans/p/status steps_done)
[ "$done" -gt 20 ] || fail "steps_done: expected more than 20, got $done"
expect "sums after $done steps" "$done" "$(sums)"
same "plan" "$TMP/p.json" plans/p.json
same "source" "$TMP/add.cl" kernels/add.cl
same "code object" "$TMP/add.co" kernels/add.co
same "snapshot" "$TMP/early" checkpoints/early.safetensors
expect "modes" "600 440 600 440" "$(stat -c %a kernels/add.cl kernels/add.co plans/p.json checkpoints/early.safetensors | tr '\n' ' ' | sed 's/ $//')"
run_steps 3
expect "steps_done after 3 more" $((done + 3)) "$(value plans/p/status steps_done)"
expect "sums after 3 more" $((done + 3)) "$(sums)"
echo "load early p" >checkpoints/ctl || fail "load: $(tail -1 log)"
expect "sums after a load" 5 "$(sums)"

# what is removed is not found again, and what was loaded counts on from there
rm checkpoints/early.safetensors
works compile "$TMP/add.cl" other.cl
rm kernels/other.cl kernels/other.co

# more than one request may carry is kept in pieces; what is gone by then is not
padding() {
	head -c "$1" /dev/zero | tr '\0' ' '
}
{ cat "$TMP/p.json"; padding 600000; } >"$TMP/long.json"
{ cat "$TMP/add.cl"; padding 700000; } >"$TMP/long.cl"
compile "$TMP/long.cl" gone.cl && rm kernels/gone.cl kernels/gone.co
cp "$TMP/long.json" plans/.tmp && mv plans/.tmp plans/long.json || fail "long.json: $(tail -1 log)"
compile "$TMP/long.cl" || fail "long.cl: $(cat kernels/long.log)"
eventually 60 grep -qx "not_kept 0" status || fail "status: $(grep not_kept status)"
kill_daemon
start_daemon
cd "$D" || exit 1
same "long plan" "$TMP/long.json" plans/long.json
same "long source" "$TMP/long.cl" kernels/long.cl
expect "state of the long plan" resident "$(value plans/long/status state)"
rm plans/long.json kernels/long.*
expect "steps_done after load and kill -9" 5 "$(value plans/p/status steps_done)"
expect "checkpoints" ctl "$(ls checkpoints)"
expect "kernels" "add.cl add.co add.json add.log" "$(ls kernels | tr '\n' ' ' | sed 's/ $//')"
run_steps 2
expect "sums" 7 "$(sums)"
rm plans/p.json

# a clean end that keeps; then one that does not
make_plan ''
run_steps 4
stop_daemon
start_daemon
expect "plans after a clean end" "" "$(ls "$D/plans")"
stop_daemon
start_daemon -o keep
cd "$D" || exit 1
make_plan ''
exec 3<>plans/p/run
echo 1000000 >&3
eventually 60 grep -q "^steps_done [1-9]" plans/p/status || fail "the plan does not run: $(cat plans/p/status)"
stop_daemon
exec 3>&-
start_daemon
cd "$D" || exit 1
done=$(value plans/p/status steps_done)
expect "sums after a clean end that keeps" "$done" "$(sums)"
stop_daemon
stop_enclosure
finish
