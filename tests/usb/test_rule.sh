#!/bin/sh
# The udev rule and the driver know the same bridges, and udev understands the rule.
cd "$(dirname "$0")/../.." || exit 1
RULES=fs/units/70-rx580fs.rules
code=$(sed -n 's/^ *{0x\([0-9a-f]\{4\}\), 0x\([0-9a-f]\{4\})*\)}.*/\1:\2/p' device/usb/find.c | sort)
rule=$(sed -n 's/^ATTRS{idVendor}=="\([0-9a-f]*\)", ATTRS{idProduct}=="\([0-9a-f|]*\)".*/\1 \2/p' $RULES |
	while read -r vid pids; do
		echo "$pids" | tr '|' '\n' | sed "s/^/$vid:/"
	done | sort)
if [ -z "$code" ] || [ "$code" != "$rule" ]; then
	echo "FAIL: find.c knows:" $code
	echo "      the rule has:" $rule
	exit 1
fi
# KEY or KEY{name}, an operator, a value in quotes: udev(7). It skips a line it does not understand, and only logs that.
item='[A-Z]+([{][A-Za-z_]+[}])?(==|!=|=|[+]=)"[^"]*"'
wrong=$(grep -vE '^(#.*)?$' $RULES | grep -vE "^$item(, $item)*\$")
if [ -n "$wrong" ]; then
	echo "FAIL: not a line of a udev rule: $wrong"
	exit 1
fi
labels=$(sed -n 's/^LABEL="\(.*\)"$/\1/p' $RULES | sort -u)
targets=$(sed -n 's/.*GOTO="\([^"]*\)".*/\1/p' $RULES | sort -u)
if [ -z "$labels" ] || [ "$labels" != "$targets" ]; then
	echo "FAIL: GOTO names" $targets
	echo "      LABEL names" $labels
	exit 1
fi
if udevadm verify --help >/dev/null 2>&1; then # since systemd 254
	udevadm verify --resolve-names=never $RULES || exit 1
fi
echo "ok:" $code
