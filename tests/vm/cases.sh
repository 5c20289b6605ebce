# cases.sh - the enclosure and the daemon under a real kernel: what it binds, what its tools see, mounts, removal, recovery.
# shellcheck shell=sh
. /guest.sh
QUIRKS=/sys/module/usb_storage/parameters/quirks

# bridge.md 2.8 and 5.2
vendor_commands() {
	sg=$(sg_node)
	holds "sg_inq" "Vendor identification: Realtek" sg_inq "$sg"
	holds "sg_inq" "Product identification: RTL9210" sg_inq "$sg"
	holds "VPD B0" "Maximum transfer length: 256 blocks" sg_inq -p 0xb0 "$sg"
	holds "TEST UNIT READY" "Medium not present" sg_raw "$sg" 00 00 00 00 00 00
	holds "an unknown opcode" "Invalid command operation code" sg_raw "$sg" c0 00 00 00 00 00
	holds "E2/A6" "00     01" sg_raw -r 1 "$sg" e2 00 00 00 a6 00 00 00 00 00 00 00 01 00 00 00
	# ...: LE 0xA001000x
	holds "E2/82" " 00 01 a0" sg_raw -r 4 "$sg" e2 00 00 00 82 00 00 00 00 00 00 00 04 00 00 00
	sg_raw -b -r 20 -o /tmp/version "$sg" e2 00 00 00 a5 00 00 00 00 00 00 00 14 00 00 00 2>/dev/null
	expect "E2/A5" "1 32 87, 20 bytes" "$(od -An -tu4 -N12 /tmp/version | xargs), $(wc -c </tmp/version) bytes"
	# E3 while locked (bridge.md 2.7)
	head -c 4 /dev/zero >/tmp/zeros
	holds "E3 while locked" "Illegal Request" sg_raw -s 4 -i /tmp/zeros "$sg" e3 00 00 00 23 00 00 00 00 00 20 b3 04 00 00 00
}

# lsusb_shows BCDUSB PACKET - bridge.md 1.1, 1.2
lsusb_shows() {
	lsusb -v -d 0bda:9210 >/tmp/lsusb 2>&1
	for words in "bcdUSB               $1" "bNumEndpoints           2" "bInterfaceProtocol     80" "bNumEndpoints           4" \
		"bInterfaceProtocol     98" "bEndpointAddress     0x81" "bEndpointAddress     0x02" "bEndpointAddress     0x83" \
		"bEndpointAddress     0x04" "wMaxPacketSize     0x$2" "iManufacturer           1 Realtek"; do
		grep -q "$words" /tmp/lsusb || fail "lsusb: expected '$words' in: $(cat /tmp/lsusb)"
	done
	expect "pipe usages" 4 "$(grep -c "Command pipe\|Status pipe\|Data-in pipe\|Data-out pipe" /tmp/lsusb)"
}

# removal DRIVER - the cable is pulled while dd reads; plugged in again this driver binds
removal() {
	dd if=/mnt/vram of=/dev/null bs=65536 count=4000 2>/tmp/dd &
	dd=$!
	sleep 1
	kill -USR1 $SERVER
	within 30 test ! -d /proc/$dd || fail "dd still reads from a card that is gone"
	wait $dd
	expect "status of dd" 1 $?
	grep -q "No such device" /tmp/dd || fail "dd: expected 'No such device', got: $(cat /tmp/dd)"
	within 10 gone || fail "the kernel still has what was pulled out"
	expect "state" gone "$(value /mnt/status state)"
	unmounted
	kill -USR2 $SERVER
	within 20 bound "$1" || fail "plugged in again: expected $1, got '$(usb_driver)': $(cat /tmp/enclosure)"
}

# hung_behind_sg - the bridge stops answering; the kernel times out, unlinks, resets its port
hung_behind_sg() {
	sg=$(sg_node)
	resets=$(dmesg | grep -c "reset high-speed USB device")
	holds "a hung bridge" "DID_TIME_OUT" sg_raw -t 2 -r 4 "$sg" e2 00 00 00 92 00 00 00 00 10 00 00 04 00 00 00
	[ "$(dmesg | grep -c "reset high-speed USB device")" -gt "$resets" ] || fail "the kernel did not reset the device: $(dmesg | tail)"
	within 30 sg_inq "$(sg_node)" || fail "the bridge did not come back: $(dmesg | tail)"
	holds "after the hang" "00     01" sg_raw -r 1 "$(sg_node)" e2 00 00 00 a6 00 00 00 00 00 00 00 01 00 00 00
}

# ---- Bulk-Only, high speed ----
echo 0bda:9210:u >$QUIRKS
plug usb-storage
vendor_commands
lsusb_shows 2.10 0200
ok "Bulk-Only at high speed: usb-storage, sg_inq, sg_raw, lsusb"
mounted "sg:$(sg_node)"
expect "backend" sg "$(value /mnt/status backend)"
vram_round_trip
axpy
unmounted
ok "Bulk-Only at high speed: mount through SG_IO, vram, AXPY"
mounted usb:0bda:9210
expect "backend" usb "$(value /mnt/status backend)"
expect "usb-storage during the mount" usbfs "$(usb_driver)"
vram_round_trip
ok "Bulk-Only at high speed: mount through libusb, vram"
removal usb-storage
ok "unplugged under libusb while reading, plugged in again"
mounted usb:0bda:9210
vram_round_trip
unmounted
within 10 bound usb-storage || fail "expected usb-storage after the mount, got '$(usb_driver)'"
ok "mounted again"
unplug 0
plug usb-storage
works vm_recovery "$(usb_node)"
within 10 bound usb-storage || fail "expected usb-storage after vm_recovery, got '$(usb_driver)'"
hung_behind_sg
ok "cancelled transfer, bad CBW, hung bridge: out of each again"
unplug 3

# ---- SuperSpeed: vhci-hcd has no streams, so the kernel does not take UAS ----
echo >$QUIRKS
plug usb-storage --speed super
lsusb_shows 3.20 0400
mounted "sg:$(sg_node)"
expect "usb_mbit" 5000 "$(value /mnt/bridge usb_mbit)"
vram_round_trip
unmounted
unplug 0
ok "Bulk-Only at SuperSpeed: usb-storage, lsusb, mount through SG_IO, vram"

# ---- UAS, high speed ----
plug uas
vendor_commands
mounted "sg:$(sg_node)"
vram_round_trip
ok "UAS at high speed: uas, sg_inq, sg_raw, mount through SG_IO, vram"
removal uas
ok "unplugged under SG_IO and uas while reading, plugged in again"
mounted usb:0bda:9210
vram_round_trip
unmounted
within 10 bound uas || fail "expected uas after the mount, got '$(usb_driver)'"
ok "UAS at high speed: libusb takes the interface from uas and gives it back"
unplug 0
plug uas
hung_behind_sg
expect "driver after the reset" uas "$(usb_driver)"
unplug 1
ok "UAS at high speed: hung bridge, the kernel's reset, alternate setting 1 again"

# ---- the other family: Bulk-Only at SuperSpeed ----
plug usb-storage --bridge asm2464 --speed super
holds "sg_inq" "Vendor identification: ASMT" sg_inq "$(sg_node)"
lsusb -d 174c:2464 >/dev/null || fail "lsusb: expected 174c:2464 in: $(lsusb)"
works rx580fs probe --card "sg:$(sg_node)" --write-level 1
works rx580fs probe --card usb:174c:2464
within 10 bound usb-storage || fail "expected usb-storage after the probe, got '$(usb_driver)'"
unplug 0
ok "ASM2464 at SuperSpeed: usb-storage, sg_inq, lsusb, probe through SG_IO and libusb"

[ $FAILED = 0 ] || dmesg | tail -40
exit $FAILED
