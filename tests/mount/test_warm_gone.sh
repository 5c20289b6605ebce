#!/bin/bash
# The enclosure is unplugged before, while and after a mounted card is reset and brought up again:
# `status` says gone, everything else ENODEV. Plugged in again it is used again.
. "$(dirname "$0")/lib.sh"
requires fusermount3
. "$(dirname "$0")/warm.sh"

# lines WORDS - of the log
lines() {
	grep -c "$1" "$D/log"
}

more_lines() {
	[ "$(lines "$1")" -gt "$2" ]
}

# unplug_at WORDS - of the log of a bring-up; nothing: before it begins.
unplug_at() {
	local seen writer
	seen=$(lines "$1")
	[ -n "$1" ] || unplug
	put "$D/ctl" "reset card" 2>"$TMP/reset" &
	writer=$!
	if [ -n "$1" ]; then
		eventually 60 more_lines "$1" "$seen" || fail "no \"$1\" in the log: $(tail -5 "$D/log")"
		unplug
	fi
	wait $writer # whatever it was told: the card may be gone before, meanwhile or later
	eventually 60 grep -qx "state gone" "$D/status" || fail "unplugged at \"$1\": expected state gone, got $(value "$D/status" state)"
	refuses "No such device" put "$D/ctl" "reset soft"
	refuses "No such device" dd if="$D/vram" of=/dev/null bs=4 count=1
	refuses "No such device" touch "$D/buffers/x"
}

start_enclosure --card posted # a cold start is 200,000 transfers
for place in "pci: 1002:67df" "smu: power management" ""; do
	start_daemon
	expect "state" ready "$(value "$D/status" state)"
	echo words >"$D/buffers/b"
	expect "buffer" words "$(cat "$D/buffers/b")"
	unplug_at "$place"
	stop_daemon
	plug_in
done
start_daemon
expect "state of the card plugged in again" ready "$(value "$D/status" state)"
stop_daemon
stop_enclosure
finish
