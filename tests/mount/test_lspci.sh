#!/bin/bash
# pci/ is what an unmodified lspci reads: both functions where the bridge reaches the second. Behind the VBIOS, bios
# gives the rest of the flash.
. "$(dirname "$0")/lib.sh"
requires lspci cmp dd

if [ -z "$RX580_INSIDE" ]; then
	# a flash of its own: a real one where there is one, else the virtual card's
	for rom in "$(realpath "${RX_VBIOS_DIR:-$(dirname "$0")/../../../shared/vbios}")"/*.rom; do
		[ -r "$rom" ] && break
	done
	for card in virtual "virtual,bridge=asm2464"; do
		[ "$card" = virtual ] && [ -r "$rom" ] && card=$card,vbios=$rom
		RX580_INSIDE=1 FLASH=$rom "$BUILD/rx580fs" --card "$card" --run "exec bash '$0' '$BUILD' '$card'" || FAILED=1
	done
	exit $FAILED
fi
own_tmp
cd "$RX580" || exit 1
NAME="$NAME $2"

out=$(lspci -A linux-sysfs -O sysfs.path="$RX580/pci" -vvnn -s 03:00.0 2>"$TMP/err")
for want in '1002:67df' 'VGA compatible controller' 'size=256M' 'size=256K' 'Express'; do
	case $out in
	*"$want"*) ;;
	*) fail "lspci: expected '$want', got '$out' $(cat "$TMP/err")" ;;
	esac
done
expect "vendor" 0x1002 "$(cat pci/card/vendor)"
expect "config starts with" "1002 67df" "$(od -An -tx2 -N4 pci/card/config | sed 's/^ *//')"
expect "link" devices/0000:03:00.0 "$(readlink pci/card)"
works sh -c "echo 1 >pci/card/rom"

case $2 in
*asm*) functions="0000:03:00.0 0000:03:00.1" ;;
*) functions="0000:03:00.0" ;; # nobody has proven that the engine reaches more
esac
expect "functions" "$functions" "$(cd pci/devices && echo *)"
case $2 in
*asm*)
	out=$(lspci -A linux-sysfs -O sysfs.path="$RX580/pci" -vvnn -s 03:00.1 2>"$TMP/err")
	for want in '1002:aaf0' 'Audio device' 'Express' 'MSI'; do
		case $out in
		*"$want"*) ;;
		*) fail "lspci of the audio function: expected '$want', got '$out' $(cat "$TMP/err")" ;;
		esac
	done
	expect "class of function 1" 0x040300 "$(cat pci/devices/0000:03:00.1/class)"
	printf '\006\000' >"$TMP/command"
	refuses "Operation not permitted" dd if="$TMP/command" of=pci/devices/0000:03:00.1/config bs=2 seek=2 conv=notrunc status=none
	;;
esac

expect "size of the flash" 262144 "$(stat -c %s bios)"
expect "the second image" "55aa" "$(dd if=bios bs=512 skip=$(($(od -An -tu1 -j2 -N1 bios))) count=1 status=none | od -An -tx1 -N2 | tr -d ' ')"
case $2 in
*vbios=*)
	same "bios is the whole file" "$FLASH" bios
	same "rom is the bios" bios pci/card/rom
	;;
*) # the far end by itself, then all that a loader looks for
	expect "erased end" ffff "$(od -An -tx1 -j 262142 bios | tr -d ' ')"
	dd if=bios of="$TMP/a" bs=4k count=16 status=none
	dd if=pci/card/rom of="$TMP/b" bs=4k count=16 status=none
	same "rom is the bios" "$TMP/a" "$TMP/b"
	;;
esac
printf abc >"$TMP/three"
refuses "Invalid argument" dd if="$TMP/three" of=pci/card/config bs=3 conv=notrunc status=none
finish
