#!/bin/bash
# What heat does to the fan and to work: load warms the card; a run waits for a hot card and goes on by itself; an
# overheated card stops, is measured on, and comes back by a reset once it is cool; a fan that is stuck.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires sh

# phases of the virtual card, in seconds from its start
HOT=16 COOL=26 OVER=34 COLD=42
# shellcheck disable=SC2034 # lib.sh reads it
CARD=virtual,posted,fault=overheat=82@$HOT,fault=overheat=70@$COOL,fault=overheat=95@$OVER,fault=overheat=60@$COLD
is() { [ "$(value "$1" "$2")" = "$3" ]; }

if [ -z "$RX580_INSIDE" ]; then
	own_tmp

	# 140 W at 60 C around it: past 75 C within seconds, and the fan follows
	"$BUILD/rx580fs" --card virtual,posted,ambient=60,fault=load=100 -o sample_ms=200 --run '
		cd "$RX580"
		first=$(cat hwmon/pwm1)
		for i in $(seq 300); do [ "$(cat hwmon/pwm1)" = 255 ] && break; sleep 0.2; done
		sleep 0.5
		echo "$first $(cat hwmon/pwm1 hwmon/freq1_input | tr "\n" " ")"
		sed -n "s/^heat //p; s/^fan //p" status' >"$TMP/out" 2>"$TMP/err"
	read -r first pwm sclk <"$TMP/out"
	[ "$first" -lt 255 ] || fail "under load: expected the fan below full speed at first, got $first"
	expect "under load: fan at last" 255 "$pwm"
	expect "under load: engine clock" 1340000000 "$sclk"
	expect "under load: heat and fan" "warm full speed" "$(tail -n2 "$TMP/out" | tr '\n' ' ' | sed 's/ $//')"

	# a fan that does not turn is said aloud, once
	"$BUILD/rx580fs" --card virtual,posted,fault=fan-stuck -o sample_ms=100 --run '
		for i in $(seq 100); do [ "$(cat "$RX580/hwmon/fan1_fault")" = 1 ] && break; sleep 0.1; done
		sleep 1
		cat "$RX580/hwmon/fan1_fault" "$RX580/hwmon/fan1_input"
		sed -n "s/^fan //p" "$RX580/status"; grep -c "does not turn" "$RX580/log"' >"$TMP/out" 2>"$TMP/err"
	expect "stuck fan" "1 0 stuck 1" "$(tr '\n' ' ' <"$TMP/out" | sed 's/ $//')"
	[ $FAILED = 0 ] || exit 1
	rm -rf "$TMP"
fi
in_mount
works put hwmon/update_interval 200

make_plan ""
exec 3<>plans/p/run
echo 100000000 >&3
done_steps() { value plans/p/status steps_done; }
[ "$(value status heat)" = cool ] || fail "the machine is too slow for this test: $(value status heat) before the plan ran"
eventually 60 is status work "paused by heat" || fail "at 82 C: expected work to pause, got $(value status work)"
sleep 1
n=$(done_steps)
sleep 2
expect "steps while it is hot" "$n" "$(done_steps)"
expect "plan while it is hot" running "$(value plans/p/status state)"
expect "error while it is hot" - "$(value plans/p/status error)"
expect "fan while it is hot" "255 1" "$(cat hwmon/pwm1 hwmon/pwm1_enable | tr '\n' ' ' | sed 's/ $//')"
refuses "Operation not permitted" put hwmon/pwm1_enable 2
refuses "Operation not permitted" put hwmon/pwm1 50
on() { [ "$(done_steps)" -gt "$n" ]; }
eventually 60 on || fail "at 70 C: expected the run to go on, got $(done_steps) steps of $n"
expect "fan when it is cool again" 2 "$(cat hwmon/pwm1_enable)"

eventually 60 is status state overheated || fail "at 95 C: expected overheated, got $(value status state)"
stopped() { is plans/p/status state failed; }
eventually 60 stopped || fail "plan of an overheated card: expected failed, got $(value plans/p/status state)"
timeout 10 cat <&3 >"$TMP/lines" || fail "run of an overheated card does not end"
tail -n1 "$TMP/lines" | grep -q '"ok":false.*overheated' || fail "run: expected an overheated card, got $(tail -n1 "$TMP/lines")"
works sh -c 'echo clear >&3'
refuses "/" bash -c 'echo 1 >&3' # whatever the shell calls EIO
refuses "Input/output error" truncate -s 4M buffers/big
expect "queues" stopped "$(value status queues)"
if [ "$(cat hwmon/temp1_input)" = 95000 ]; then
	refuses "Operation not permitted" put ctl "reset soft"
	expect "fan" 255 "$(cat hwmon/pwm1)"
fi
rm buffers/big 2>/dev/null
cool() { [ "$(cat hwmon/temp1_input)" = 60000 ]; }
eventually 60 cool || fail "expected samples to go on and show 60 C, got $(cat hwmon/temp1_input)"
expect "state of a card that has cooled down" overheated "$(value status state)"
works put ctl "reset soft"
expect "state after the reset" ready "$(value status state)"
works sh -c 'echo clear >&3; echo 3 >&3'
timeout 120 cat <&3 >"$TMP/lines"
grep -q '"steps":3,"ok":true' "$TMP/lines" || fail "run after the reset: $(cat "$TMP/lines")"
automatic() { [ "$(cat hwmon/pwm1_enable)" = 2 ]; }
eventually 60 automatic || fail "fan after the reset: expected automatic, got $(cat hwmon/pwm1_enable)"
truncate -s 4M buffers/big || fail "no buffer after the reset"
exec 3>&-
finish
