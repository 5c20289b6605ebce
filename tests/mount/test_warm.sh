#!/bin/bash
# A daemon that was killed: the next one finds the card running and takes it over with all that
# lives in its VRAM. After a clean end, or when told to, it starts with nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires cmp fusermount3
[ -x "$BUILD/rx580-enclosure" ] || skip "no rx580-enclosure in $BUILD"
. "$(dirname "$0")/warm.sh"

head -c 300001 /dev/urandom >"$TMP/small"
head -c 1500000 /dev/urandom >"$TMP/large" # above the window

start_enclosure --card cold
start_daemon
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
kill_daemon

start_daemon
expect "attach after kill -9" warm "$(value "$D/status" attach)"
grep -q "4 things in its VRAM" "$D/log" || fail "log: expected 4 things, got $(grep warm: "$D/log")"
expect "buffers" "empty large new small" "$(ls "$D/buffers" | tr '\n' ' ' | sed 's/ $//')"
same "small" "$TMP/small" "$D/buffers/small"
same "large" "$TMP/large" "$D/buffers/large"
head -c 1000 "$TMP/small" >"$TMP/first"
same "new" "$TMP/first" "$D/buffers/new"
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
