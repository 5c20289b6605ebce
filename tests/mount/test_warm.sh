#!/bin/bash
# A daemon that was killed: the next one finds the card running and takes it over with all that
# lives in its VRAM. After a clean end, or when told to, it starts with nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires cmp fusermount3 "$PYTHON"
. "$(dirname "$0")/warm.sh"

# attribute FILE NAME [VALUE] - print it, or set it; getfattr is not everywhere.
attribute() {
	"$PYTHON" - "$@" <<-'P'
	import os, sys
	name = "user.rx580." + sys.argv[2]
	if len(sys.argv) > 3:
	    os.setxattr(sys.argv[1], name, sys.argv[3].encode())
	else:
	    print(os.getxattr(sys.argv[1], name).decode())
	P
}

head -c 300001 /dev/urandom >"$TMP/small"
head -c 1500000 /dev/urandom >"$TMP/large" # above the window

start_enclosure --card cold
start_daemon -o sample_ms=3600000 # commands are counted
expect "attach to a card nobody has started" cold "$(value "$D/status" attach)"
before=$(value "$D/bridge" commands)
: >"$D/buffers/empty"
after=$(value "$D/bridge" commands)
[ $((after - before)) -le 20 ] || fail "creating a buffer: expected at most 20 commands, got $((after - before))"
cp "$TMP/small" "$D/buffers/small"
cp "$TMP/large" "$D/buffers/large"
cp "$TMP/small" "$D/buffers/old"
mv "$D/buffers/old" "$D/buffers/new"
cp "$TMP/small" "$D/buffers/gone"
rm "$D/buffers/gone"
truncate -s 1000 "$D/buffers/new"
chmod 0640 "$D/buffers/small"
chmod 0400 "$D/buffers/new"
[ "$(id -u)" != 0 ] || chown 1234:567 "$D/buffers/small"
attribute "$D/buffers/small" dtype float32
attribute "$D/buffers/small" shape 3,25000
attribute "$D/buffers/new" dtype before
mv "$D/buffers/new" "$D/buffers/newer"
attribute "$D/buffers/newer" dtype uint8
mv "$D/buffers/newer" "$D/buffers/new"
owners=$(stat -c '%n %a %u:%g' "$D"/buffers/*)
kill_daemon

start_daemon
expect "attach after kill -9" warm "$(value "$D/status" attach)"
grep -q "4 things in its VRAM" "$D/log" || fail "log: expected 4 things, got $(grep warm: "$D/log")"
expect "buffers" "empty large new small" "$(ls "$D/buffers" | tr '\n' ' ' | sed 's/ $//')"
same "small" "$TMP/small" "$D/buffers/small"
same "large" "$TMP/large" "$D/buffers/large"
head -c 1000 "$TMP/small" >"$TMP/first"
same "new" "$TMP/first" "$D/buffers/new"
expect "owners and modes" "$owners" "$(stat -c '%n %a %u:%g' "$D"/buffers/*)"
expect "mode of small" 640 "$(stat -c %a "$D/buffers/small")"
expect "dtype of small" float32 "$(attribute "$D/buffers/small" dtype)"
expect "shape of small" 3,25000 "$(attribute "$D/buffers/small" shape)"
expect "dtype of new" uint8 "$(attribute "$D/buffers/new" dtype)"
refuses "No data available" attribute "$D/buffers/large" dtype
expect "size of empty" 0 "$(stat -c %s "$D/buffers/empty")"
stop_daemon

start_daemon
expect "attach after a clean end" warm "$(value "$D/status" attach)"
expect "buffers after a clean end" "" "$(ls "$D/buffers")"
cp "$TMP/small" "$D/buffers/small"
stop_daemon

start_daemon -o keep
cp "$TMP/small" "$D/buffers/small"
stop_daemon
works "$RX" bringup --card "$CARD" # looks, and leaves what is there
start_daemon
same "small after -o keep" "$TMP/small" "$D/buffers/small"
kill_daemon

start_daemon -o attach=no
expect "attach when told not to" reset "$(value "$D/status" attach)"
expect "buffers after a reset" "" "$(ls "$D/buffers")"
grep -q "not taken over: as asked for" "$D/log" || fail "log: no word of the reset"
stop_daemon
stop_enclosure
finish
