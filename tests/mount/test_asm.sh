#!/bin/bash
# The other bridge family: over an ASM2362 and an ASM2464PD the card mounts, dd to vram comes back, AXPY is right, and a
# plan with a checkpoint runs. Their engine moves a dword with about nine commands, some 2 kB/s: long reads and
# writes have to be cut, or nobody would be answered in time.
. "$(dirname "$0")/lib.sh"
requires dd cmp cp python:numpy
BRIDGES="asm2362 asm2464"

if [ -z "$RX580_INSIDE" ]; then
	for bridge in $BRIDGES; do
		RX580_INSIDE=1 "$BUILD/rx580fs" --card "virtual,bridge=$bridge" \
			--run "exec bash '$0' '$BUILD' $bridge" || FAILED=1
	done
	[ $FAILED = 0 ] && echo "ok $NAME"
	exit $FAILED
fi
. "$(dirname "$0")/plan.sh"
. "$(dirname "$0")/axpy.sh"
own_tmp
cd "$RX580" || exit 1
BRIDGE=$2
NAME="$NAME $BRIDGE"

case $BRIDGE in
asm2362) expect "family" "asm236x 174c:2362" "$(value bridge family) $(value bridge usb_id)" ;;
asm2464) expect "family" "asm246x 174c:2464" "$(value bridge family) $(value bridge usb_id)" ;;
esac
expect "alias writes are the other family's" 0 "$(value bridge ability_alias_write)"

MIB=1048576
head -c 20000 /dev/urandom >"$TMP/data"

# round OFFSET LENGTH - write, read back.
round() {
	head -c "$2" "$TMP/data" >"$TMP/want"
	dd if="$TMP/want" of=vram bs=4k oflag=seek_bytes seek="$1" conv=notrunc status=none ||
		fail "write of $2 bytes at $1"
	dd if=vram of="$TMP/got" bs=4k iflag=skip_bytes,count_bytes skip="$1" count="$2" status=none
	same "vram at $1" "$TMP/want" "$TMP/got"
}

round $((64 * MIB)) 20000         # inside the window
round $((64 * MIB + 40961)) 1     # one byte
round $((64 * MIB + 45059)) 5     # across two dwords
round $((1024 * MIB)) 9000        # above the window
round $((256 * MIB - 5000)) 10000 # across its edge

# one call, many requests
head -c 65536 /dev/urandom >"$TMP/want"
dd if="$TMP/want" of=vram bs=64k seek=1600 conv=notrunc status=none || fail "write of 64 KiB at once"
dd if=vram of="$TMP/got" bs=64k skip=1600 count=1 status=none
same "64 KiB of vram at once" "$TMP/want" "$TMP/got"
# a plan is loaded as one request, however long its upload takes
check_card() {
	expect "guest errors" 0 "$(value bridge guest_errors)"
}
check_card

axpy_proof
make_plan
exec 3<>plans/p/run
echo 3 >&3
cat <&3 >/dev/null
exec 3>&-
works put checkpoints/ctl "save s3 p"
works cp checkpoints/s3.safetensors "$TMP/s3"
exec 3<>plans/p/run
echo 4 >&3
cat <&3 >/dev/null
exec 3>&-
expect "sum after seven steps" 7 "$(sums)"
works put checkpoints/ctl "load s3 p"
expect "sum after load" 3 "$(sums)"
finish
