#!/bin/bash
# The enclosure as a process of its own: a daemon over USB/IP, killed in mid-work; the next one finds
# the same card with the same bytes. Who does not get it is told why.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires dd cmp fusermount3
. "$(dirname "$0")/warm.sh"
MIB=1048576

start_enclosure --card posted
head -c 200000 /dev/urandom >"$TMP/data"

start_daemon
expect "state" ready "$(value "$D/status" state)"
expect "backend" usbip "$(value "$D/status" backend)"
dd if="$TMP/data" of="$D/vram" bs=64k oflag=seek_bytes seek=$((64 * MIB)) conv=notrunc status=none || fail "write below 256 MiB"
dd if="$TMP/data" of="$D/vram" bs=64k oflag=seek_bytes seek=$((512 * MIB)) conv=notrunc status=none || fail "write above"
refuses "another client has it" "$RX" --card "$CARD" --run true
refuses "Address already in use" "$BUILD/rx580-enclosure" --unix "$SOCK"

# the daemon dies in the middle of a plan and of a transfer
cd "$D" || exit 1
make_plan ''
exec 3<>plans/p/run
echo 1000000 >&3
eventually 60 grep -q "^steps_done [1-9]" plans/p/status || fail "the plan does not run: $(cat plans/p/status)"
cd /
dd if="$D/vram" of=/dev/null bs=64k count=4096 status=none 2>/dev/null &
DD=$!
sleep 0.3
kill_daemon
wait $DD
exec 3>&-

start_daemon
for pipe in 0 1; do
	grep -q "queue of an earlier driver still runs on pipe $pipe" "$TMP/err" ||
		fail "no word of the queue left on pipe $pipe: $(cat "$TMP/err")"
done
for at in 64 512; do
	dd if="$D/vram" of="$TMP/got" bs=64k iflag=skip_bytes,count_bytes skip=$((at * MIB)) count=200000 status=none
	same "vram at $at MiB after kill -9" "$TMP/data" "$TMP/got"
done

# surprise removal, then a power cycle
unplug
refuses "No such device" cat "$D/vram"
kill $PID
wait $PID
PID=
plug_in
start_daemon
expect "state after plugging in" ready "$(value "$D/status" state)"
stop_daemon

stop_enclosure
[ ! -e "$SOCK" ] || fail "the socket is still there"
refuses "is rx580-enclosure" "$RX" --card "$CARD" --run true

# TCP and SuperSpeed; the daemon takes the only device the server lists
"$BUILD/rx580-enclosure" --listen 127.0.0.1:0 --speed super --card posted 2>"$TMP/server" &
# shellcheck disable=SC2034 # warm.sh stops it
SERVER=$!
eventually 60 grep -q port "$TMP/server" || fail "the server does not listen: $(cat "$TMP/server")"
PORT=$(sed -n 's/.* port //p' "$TMP/server")
works "$RX" --card "usbip:127.0.0.1:$PORT" --run 'cp "$RX580/bridge" "'"$TMP"'/bridge"; head -c 100000 "$RX580/vram" >/dev/null'
expect "Mbit/s" 5000 "$(value "$TMP/bridge" usb_mbit)"
refuses "no such device" "$RX" --card "usbip:127.0.0.1:$PORT/2-2" --run true
stop_enclosure
finish
