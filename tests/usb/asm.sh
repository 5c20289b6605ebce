#!/bin/bash
# An ASMedia bridge over the real carriers: asm.sh BUILD BRIDGE, run by usb_host. auto takes it, the probe examines it by
# libusb and by SG_IO and finds the same, its trace plays back, what it proved is kept.
BUILD=$1
. "$(dirname "$0")/../mount/lib.sh"
BRIDGE=$2
CONTROL=$BUILD/tests/usb/usb_control
RX=$BUILD/rx580fs
own_tmp
case $BRIDGE in
asm2362) ID=174c:2362 FAMILY=asm236x ;;
asm2464) ID=174c:2464 FAMILY=asm246x ;;
esac

# findings REPORT - what must not depend on the carrier
findings() {
	sed -n '/"abilities": {/,/}/p; s/^ *"family"/"family"/p; s/^ *"usable"/"usable"/p; /"title"/p' "$1"
}

# probe NAME CARD LEVEL
probe() {
	"$RX" probe --card "$2" --write-level "$3" -o "$TMP/$1.json" >"$TMP/$1" 2>&1
	expect "probe of $2, exit status" 0 $?
	expect "family by $2" 1 "$(grep -c "\"family\": \"$FAMILY\"" "$TMP/$1.json")"
}

probe usb "usb:$ID@1-1" 2
expect "kernel driver bound at the end" 1 "$("$CONTROL" driver)"
probe sg sg:/dev/sg0 2
probe auto auto 0
grep -q "using the bridge $ID at USB port 1-1" "$TMP/auto" || fail "auto: expected the bridge $ID, got: $(head -1 "$TMP/auto")"
findings "$TMP/usb.json" >"$TMP/want"
findings "$TMP/sg.json" >"$TMP/got"
same "findings by SG_IO" "$TMP/want" "$TMP/got"
grep -q "\"$ID:0100 $FAMILY .*1002:67df\"" "$XDG_STATE_HOME/rx580fs/abilities.json" || fail "nothing is remembered of $ID"

"$RX" probe --card "replay:$TMP/usb.json.trace" --write-level 2 >"$TMP/again" 2>&1
expect "the trace plays back, exit status" 0 $?
expect "and says the same" "$(grep '^abilities' "$TMP/usb")" "$(grep '^abilities' "$TMP/again")"

refuses "no device 0bda:9210" "$RX" probe --card usb:0bda:9210
refuses "no device $ID is plugged in at port 1-2" "$RX" probe --card "usb:$ID@1-2"
expect "guest errors" 0 "$("$CONTROL" guest-errors)"
finish
