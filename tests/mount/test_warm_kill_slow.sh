#!/bin/bash
# Daemons killed at random moments of a start, of writes and of plan runs: the next one always comes
# up, and what it takes over is whole. RX580_SEED repeats a run; RX580_ROUNDS makes it longer.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires cmp od fusermount3
. "$(dirname "$0")/warm.sh"

RANDOM=${RX580_SEED:-$$}
echo "seed ${RX580_SEED:-$$}"
head -c 200000 /dev/urandom >"$TMP/fixed"

# nap MIN MAX - milliseconds
nap() {
	sleep "$(awk -v ms=$(($1 + RANDOM % ($2 - $1))) 'BEGIN { printf "%.3f", ms / 1000 }')"
}

# furnish - what a reset takes.
furnish() {
	cp "$TMP/fixed" "$D/buffers/fixed" || fail "fixed: cannot be written"
	cd "$D" || exit 1
	make_plan ''
	cd /
}

# check_whole - what was closed before is as it was, and the plan's state is that of whole steps.
check_whole() {
	local steps
	same "round $1: fixed" "$TMP/fixed" "$D/buffers/fixed"
	steps=$(value "$D/plans/p/status" steps_done)
	cd "$D" || exit 1
	expect "round $1: error of the plan" - "$(value plans/p/status error)"
	expect "round $1: sums" "$steps" "$(sums)"
	cd /
}

# work - until the mount is gone.
work() {
	local i=0
	while cp "$TMP/fixed" "$D/buffers/w$((i % 5))" && mv "$D/buffers/w$((i % 5))" "$D/buffers/v$((i % 3))" &&
		truncate -s $((RANDOM * 10)) "$D/buffers/v$((i % 3))"; do
		[ $((i++ % 7)) != 6 ] || rm "$D/buffers/v1"
	done 2>/dev/null
}

start_enclosure --card cold
start_daemon
furnish
for round in $(seq "${RX580_ROUNDS:-8}"); do
	work &
	WORKER=$!
	exec 3<>"$D/plans/p/run"
	echo 100000 >&3
	nap 100 2000
	kill_daemon
	exec 3>&-
	wait $WORKER 2>/dev/null
	if [ $((RANDOM % 2)) = 0 ]; then # and one that does not get through its start
		"$RX" --card "$CARD" -f "$D" 2>"$TMP/err" &
		PID=$!
		nap 5 700
		kill_daemon
	fi
	start_daemon
	attach=$(value "$D/status" attach)
	expect "round $round: state" ready "$(value "$D/status" state)"
	case $attach in
	warm) check_whole "$round" ;;
	reset) furnish ;;
	*) fail "round $round: attach: expected warm or reset, got '$attach'" ;;
	esac
	[ $FAILED = 0 ] || break
	echo "round $round: $attach, $(value "$D/plans/p/status" steps_done) steps, $(ls "$D/buffers" | wc -l) buffers"
done
[ $FAILED = 0 ] || cat "$TMP/err"
stop_daemon

# killed inside a cold start
for round in 1 2 3 4; do
	unplug
	plug_in
	"$RX" --card "$CARD" -f "$D" 2>"$TMP/err" &
	# shellcheck disable=SC2034 # kill_daemon reads it
	PID=$!
	nap 300 5000
	kill_daemon
	start_daemon
	expect "cold round $round: state" ready "$(value "$D/status" state)"
	echo "cold round $round: $(value "$D/status" attach)"
	furnish
	check_whole "after a cold start, $round"
	stop_daemon
done
stop_enclosure
finish
