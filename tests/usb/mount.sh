#!/bin/bash
# The mount over a real carrier: mount.sh BUILD CARD, run by usb_host. dd to VRAM, AXPY through a plan,
# faults on the wire (bridge.md 5.5), removal.
BUILD=$1
. "$(dirname "$0")/../mount/lib.sh"
. "$(dirname "$0")/../mount/axpy.sh"
CARD=$2
CONTROL=$BUILD/tests/usb/usb_control
requires dd cmp
[ -f "$BUILD/kernels/axpy.co" ] || skip "no kernels/axpy.co in $BUILD"
if [ -z "$RX580_INSIDE" ]; then
	own_tmp
	# no samples: they would take the faults meant for us
	RX580_INSIDE=1 "$BUILD/rx580fs" --card "$CARD" -o sample_ms=3600000 --run "bash '$0' '$BUILD' '$CARD'"
	status=$?
	expect "kernel driver bound at the end" 1 "$("$CONTROL" driver)"
	exit $((status | FAILED))
fi
own_tmp
cd "$RX580" || exit 1
# enum venc_fault << 16 | count: device/virtual/enclosure/enclosure.h
STALL=0x00001 STALLED_CSW=0x10001 SHORT_CSW=0x30001 PHASE_ERROR=0x40001

case $CARD in
sg:*) expect backend sg "$(value status backend)" ;;
*) expect backend usb "$(value status backend)" ;;
esac
expect "usb id" 0bda:9210 "$(value bridge usb_id)"

# 8 KiB there and back
read_back() {
	dd if=vram of="$TMP/got" bs=4k skip=16384 count=2 status=none
}
head -c 8192 /dev/urandom >"$TMP/data"
works dd if="$TMP/data" of=vram bs=4k seek=16384 conv=notrunc status=none
works read_back
same vram "$TMP/data" "$TMP/got"

# y = 2.5 x + y, x = y = 1 where n = 200 allows
cp "$BUILD/kernels/axpy.co" kernels/
for _ in $(seq 256); do printf '\0\0\200\77'; done >"$TMP/ones"
cp "$TMP/ones" buffers/x
cp "$TMP/ones" buffers/y
axpy_run 1 256 200
# 3.5f is 40600000, 1.0f 3f800000
expect "AXPY" "40600000 200, 3f800000 56" "$(od -A n -v -t x4 -w4 buffers/y | sort -r | uniq -c | awk '{ printf "%s%s %s", n++ ? ", " : "", $2, $1 }')"

# survives FAULT WHAT - an error or the right bytes, never wrong ones; afterwards the right bytes
survives() {
	"$CONTROL" inject "$1" >/dev/null
	if read_back 2>/dev/null; then
		same "vram with $2" "$TMP/data" "$TMP/got"
	fi
	works read_back
	same "vram after $2" "$TMP/data" "$TMP/got"
}
survives $STALL "a stalled data phase"
survives $STALLED_CSW "a stalled status"
survives $SHORT_CSW "a short status"
survives $PHASE_ERROR "a phase error"
expect state ready "$(value status state)"
expect "guest errors" 0 "$("$CONTROL" guest-errors)"
# what it took: usb-storage resets the port by itself, we begin with a class reset
case $CARD in
sg:*) resets=port_resets ;;
*) resets=recoveries ;;
esac
[ "$(value bridge $resets)" -ge 2 ] || fail "$resets: expected 2 or more, got $(value bridge $resets)"

"$CONTROL" unplug >/dev/null
case $CARD in # a mocked /dev/sg0 cannot hang up
sg:*) ;;
*) eventually 60 grep -qx "state gone" status || fail "removal of an idle enclosure: expected state gone, got $(value status state)" ;;
esac
refuses "No such device" read_back
expect state gone "$(value status state)"
"$CONTROL" unplug 1 >/dev/null
exit $FAILED
