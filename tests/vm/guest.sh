# guest.sh - what cases.sh is written in. Busybox sh.
# shellcheck shell=sh
FAILED=0
SERVER=
DAEMON=

now() { cut -d' ' -f1 /proc/uptime; }
ok() { echo "[$(now)] ok $*"; }
fail() {
	echo "[$(now)] FAILED $*"
	[ ! -s /tmp/daemon ] || tail -n 5 /tmp/daemon
	FAILED=1
}

# expect WHAT WANTED GOT
expect() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# holds WHAT WORDS COMMAND... - the output of COMMAND, which may fail, has WORDS
holds() {
	what=$1 words=$2
	shift 2
	out=$(timeout 60 "$@" 2>&1)
	case $out in
	*"$words"*) ;;
	*) fail "$what: expected '$words' in: $out" ;;
	esac
}

# works COMMAND... within a minute
works() {
	timeout 60 "$@" >/tmp/out 2>&1 || fail "$*: status $?, expected 0: $(tail -5 /tmp/out)"
}

# within SECONDS COMMAND... - until it succeeds
within() {
	tries=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

# value FILE KEY
value() { sed -n "s/^$2 //p" "$1"; }

# ---- the enclosure as this kernel sees it ----

usb_device() {
	for d in /sys/bus/usb/devices/*/idVendor; do
		case $(cat "$d") in
		0bda | 174c) echo "${d%/idVendor}" && return ;;
		esac
	done
	return 1
}
usb_node() {
	d=$(usb_device) && printf '/dev/bus/usb/%03d/%03d' "$(cat "$d/busnum")" "$(cat "$d/devnum")"
}
# usb_driver - of the interface; nothing if none
usb_driver() {
	for i in "$(usb_device)"/*:1.0; do
		[ -e "$i/driver" ] && basename "$(readlink "$i/driver")"
	done
}
# sg_node - fails while the kernel has none
sg_node() {
	for s in /sys/class/scsi_generic/*; do
		[ -c "/dev/${s##*/}" ] && echo "/dev/${s##*/}" && return
	done
	return 1
}
gone() { ! usb_device >/dev/null && ! sg_node >/dev/null; }
bound() { [ "$(usb_driver)" = "$1" ] && sg_node >/dev/null; }

# plug DRIVER OPTION... - start an enclosure; this driver must bind
plug() {
	driver=$1
	shift
	# warm: a cold start is 67,000 commands, minutes on this machine
	rx580-enclosure --vhci --card posted --vram 512 --threads 1 "$@" 2>/tmp/enclosure &
	SERVER=$!
	within 20 bound "$driver" || fail "expected $driver and an sg node, got driver '$(usb_driver)': $(cat /tmp/enclosure; dmesg | tail)"
}

# unplug GUEST_ERRORS - end it; so many mistakes it must have counted
unplug() {
	kill $SERVER
	wait $SERVER
	expect "exit status of rx580-enclosure" 0 $?
	within 10 gone || fail "the kernel still has the enclosure: $(usb_device) $(sg_node)"
	expect "guest errors" "$1" "$(sed -n 's/.*bytes, \([0-9]*\) guest errors/\1/p' /tmp/enclosure | tail -1)"
	[ "$FAILED" = 0 ] || cat /tmp/enclosure
}

# ---- the mount ----

# mounted CARD - start the daemon on /mnt; its log in /tmp/daemon
mounted() {
	rx580fs --card "$1" -f -o sample_ms=3600000 /mnt 2>/tmp/daemon &
	DAEMON=$!
	within 60 test -r /mnt/status || fail "no mount of $1: $(cat /tmp/daemon)"
	expect "state" ready "$(value /mnt/status state)"
}
unmounted() {
	kill $DAEMON
	wait $DAEMON
	expect "exit status of rx580fs" 0 $?
}

# vram_round_trip - 16 KiB at 64 MiB, there and back
vram_round_trip() {
	head -c 16384 /dev/urandom >/tmp/data
	works dd if=/tmp/data of=/mnt/vram bs=16384 seek=4096 conv=notrunc
	works dd if=/mnt/vram of=/tmp/got bs=16384 skip=4096 count=1
	cmp /tmp/data /tmp/got || fail "vram: the bytes read are not those written"
}

# axpy - a compiled kernel through a plan: y = 2.5 x + y for the first 200 of 256
axpy() {
	cp /axpy.co /mnt/kernels/
	i=0
	while [ $i -lt 256 ]; do
		printf '\0\0\200\77' # 1.0f
		i=$((i + 1))
	done >/tmp/ones
	cp /tmp/ones /mnt/buffers/x
	cp /tmp/ones /mnt/buffers/y
	cat >/mnt/plans/axpy.json <<'J'
{ "format": "rx580-plan-1",
  "steps": [ { "kernel": "axpy:axpy", "groups": [1], "group": [256], "args": { "a": 2.5, "x": "x", "y": "y", "n": 200 } } ] }
J
	exec 3<>/mnt/plans/axpy/run
	echo 1 >&3
	line=$(tail -n 1 <&3) # progress comes before it
	exec 3>&-
	case $line in
	'{"seq":1,"steps":1,"ok":true,'*) ;;
	*) fail "run: expected one good step, got '$line'" ;;
	esac
	# 3.5f, 1.0f
	expect "AXPY" "200 40600000, 56 3f800000" \
		"$(od -A n -v -t x4 -w4 /mnt/buffers/y | sort -r | uniq -c | awk '{ printf "%s%s %s", n++ ? ", " : "", $1, $2 }')"
}
