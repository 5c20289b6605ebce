#!/bin/bash
# The probe over a real carrier: probe.sh BUILD CARD, run by usb_host. What level 2 proves is remembered, and the next
# mount on the same board relies on it; on another board, or after a probe that proved nothing, it does not.
# VENC_ENGINE: what the bridge's TLP engine can do; without it bursts stay off.
BUILD=$1
. "$(dirname "$0")/../mount/lib.sh"
CARD=$2
requires grep
own_tmp
STATE=$XDG_STATE_HOME/rx580fs/abilities.json
RX=$BUILD/rx580fs
BURST=0
[ -n "${VENC_ENGINE:-}" ] && BURST=31
head -c 20000 /dev/urandom >"$TMP/data"
export DATA=$TMP/data

ability() {
	"$RX" --card "$CARD" --run 'sed -n "s/^ability_alias_write //p; s/^ability_engine_burst //p" "$RX580/bridge"
		dd if="$DATA" of="$RX580/vram" bs=64k seek=1024 conv=notrunc status=none
		dd if="$RX580/vram" bs=64k skip=1024 count=1 status=none | head -c 20000 | cmp - "$DATA" && echo same' 2>"$TMP/log"
}

"$RX" probe --card "$CARD" -o "$TMP/report.json" >"$TMP/out" 2>&1
expect "level 0, exit status" 0 $?
[ -e "$STATE" ] && fail "level 0 has remembered something"
expect "writes at level 0" 0 "$(grep -c '^cmd e3' "$TMP/report.json.trace")"
expect "abilities without proof" "0 0 same" "$(ability | tr -s '\n ' ' ' | sed 's/ $//')"

"$RX" probe --card "$CARD" --write-level 2 -o "$TMP/report.json" >"$TMP/out" 2>&1
expect "level 2, exit status" 0 $?
grep -q '"alias_write": true' "$STATE" || fail "level 2 has not remembered the alias write: $(cat "$STATE")"
expect "abilities with proof" "1 $BURST same" "$(ability | tr -s '\n ' ' ' | sed 's/ $//')"

"$RX" probe --card "replay:$TMP/report.json.trace" --write-level 2 >"$TMP/again" 2>&1
expect "the trace plays back, exit status" 0 $?
expect "and says the same" "$(grep '^abilities' "$TMP/out")" "$(grep '^abilities' "$TMP/again")"

sed -i 's/1\.32\.87/1.32.49/' "$STATE"
expect "abilities of another firmware" "0 0 same" "$(ability | tr -s '\n ' ' ' | sed 's/ $//')"
finish
