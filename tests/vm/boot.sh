#!/bin/bash
# boot.sh BUILD - boot Debian's kernel under QEMU, without KVM, with rx580-enclosure and rx580fs inside: the real vhci-hcd,
# usb-storage, uas, sg and usbfs against the virtual enclosure. cases.sh says what is checked. Keeps the kernel in
# BUILD/vm/kernel, the guest's output in BUILD/vm/log. Exit status 77: something to run it with is missing.
build=$1
here=$(cd "$(dirname "$0")" && pwd)
vm=$build/vm
limit_s=${RX_VM_SECONDS:-420} # a quarter of that on two idle processors
# shellcheck source=tests/vm/kernel.sh
. "$here/kernel.sh"
# shellcheck source=tests/vm/initramfs.sh
. "$here/initramfs.sh"

skip() {
	echo "SKIP: $*"
	exit 77
}
fail() {
	echo "FAIL: $*"
	exit 1
}

PATH=$PATH:/usr/sbin:/sbin
[ "$(uname -m)" = x86_64 ] || skip "the guest is x86-64"
for tool in qemu-system-x86_64 cpio modprobe depmod sg_inq sg_raw lsusb fusermount3 apt-get dpkg-deb xz; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
for file in rx580fs rx580-enclosure tests/vm/vm_recovery kernels/axpy.co; do
	[ -f "$build/$file" ] || skip "no $file in $build"
done
mkdir -p "$vm"
fetch_kernel "$vm/kernel" vhci-hcd usb-storage uas sg sd_mod fuse >"$vm/fetch.log" 2>&1 ||
	skip "no kernel for the guest: $(tail -1 "$vm/fetch.log")"
make_initramfs "$vm/initramfs" "$vm/kernel" "$build" "$here" || fail "the initramfs cannot be made"

began=$SECONDS
# When this script is killed, by whatever signal, timeout ends the machine.
# Nehalem: newer vector instructions are slower when they are emulated
setpriv --pdeathsig TERM timeout "$limit_s" qemu-system-x86_64 -M pc -accel tcg,thread=multi -smp 2 -cpu Nehalem -m 640 -nodefaults -no-user-config \
	-nographic -serial stdio -no-reboot -device isa-debug-exit,iobase=0xf4,iosize=4 \
	-kernel "$vm/kernel/kernel" -initrd "$vm/initramfs" \
	-append "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable" </dev/null >"$vm/log" 2>&1
status=$?
tr -d '\r' <"$vm/log" | if [ $status = 33 ]; then # 2 * 0x10 + 1: init.sh
	grep '^\[.* ok '
else
	cat
fi
echo "the guest ran for $((SECONDS - began)) s"
[ $status = 124 ] && fail "it did not finish in $limit_s s"
[ $status = 33 ] || fail "it ended with status $status; its output is above and in $vm/log"
