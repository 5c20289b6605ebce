#!/bin/bash
# -o ro, umask, uid; mount-helper words.
. "$(dirname "$0")/lib.sh"
requires stat
own_tmp
RX=$BUILD/rx580fs

"$RX" --card "$CARD" -o ro,user,noauto,_netdev,nofail,x-systemd.idle-timeout=1 --run '
	! touch "$RX580/buffers/x" 2>/dev/null && ! sh -c "echo reset soft >\"$RX580/ctl\"" 2>/dev/null &&
	head -c16 "$RX580/vram" >/dev/null && cat "$RX580/status" >/dev/null' 2>/dev/null ||
	fail "-o ro: expected reading to work and writing to fail"
"$RX" --card "$CARD" -o umask=077,uid=1234,gid=4321 --run '
	stat -c "%a %u %g" "$RX580/status" "$RX580/buffers" >"'"$TMP"'/out"' 2>/dev/null
expect "umask and owner" "400 1234 4321 700 1234 4321" "$(tr '\n' ' ' <"$TMP/out" | sed 's/ $//')"
"$RX" --card "$CARD" -o sample_ms=250 --run 'cat "$RX580/hwmon/update_interval"' >"$TMP/out" 2>/dev/null
expect "sample_ms" 250 "$(cat "$TMP/out")"
finish
