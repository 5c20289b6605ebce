#!/bin/sh
# The udev rule and the driver know the same bridges.
cd "$(dirname "$0")/../.." || exit 1
code=$(sed -n 's/^ *{0x\([0-9a-f]\{4\}\), 0x\([0-9a-f]\{4\})*\)}.*/\1:\2/p' device/usb/find.c | sort)
rule=$(sed -n 's/^ATTRS{idVendor}=="\([0-9a-f]*\)", ATTRS{idProduct}=="\([0-9a-f|]*\)".*/\1 \2/p' fs/units/70-rx580fs.rules |
	while read -r vid pids; do
		echo "$pids" | tr '|' '\n' | sed "s/^/$vid:/"
	done | sort)
if [ -z "$code" ] || [ "$code" != "$rule" ]; then
	echo "FAIL: find.c knows:" $code
	echo "      the rule has:" $rule
	exit 1
fi
echo "ok:" $code
