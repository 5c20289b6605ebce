#!/bin/bash
# pci/ is what an unmodified lspci reads.
. "$(dirname "$0")/lib.sh"
requires lspci
in_mount

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
same "rom is the bios" bios pci/card/rom
printf abc >"$TMP/three"
refuses "Invalid argument" dd if="$TMP/three" of=pci/card/config bs=3 conv=notrunc status=none
finish
