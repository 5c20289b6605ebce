# initramfs.sh - the guest's file system. Sourced by boot.sh.
# shellcheck shell=bash

# add_programs ROOT PROGRAM... - into /bin, with their libraries
add_programs() {
	local root=$1 file
	shift
	cp -L "$@" "$root/bin/" || return 1
	ldd "$@" | grep -oE '/[^ :]+ \(0x' | sed 's/ (0x$//' | sort -u | while read -r file; do
		mkdir -p "$root/${file%/*}"
		cp -L "$file" "$root/$file" || return 1
	done
}

# make_initramfs OUT KERNEL BUILD HERE - KERNEL: what fetch_kernel left
make_initramfs() {
	local out=$1 kernel=$2 build=$3 here=$4 root applet
	root=$out.root
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,mnt,run,etc} || return 1
	cp "$kernel/busybox" "$root/bin/" || return 1
	while read -r applet; do
		ln -s busybox "$root/bin/$applet"
	done < <("$kernel/busybox" --list | grep -vxE 'busybox|lsusb')
	cp -r "$kernel/modules" "$root/modules" || return 1
	add_programs "$root" "$build"/rx580fs "$build"/rx580-enclosure "$build"/tests/vm/vm_recovery \
		"$(command -v sg_inq)" "$(command -v sg_raw)" "$(command -v lsusb)" "$(command -v fusermount3)" || return 1
	cp "$build/kernels/axpy.co" "$here/guest.sh" "$here/cases.sh" "$root/" || return 1
	install -m 755 "$here/init.sh" "$root/init" || return 1
	(cd "$root" && find . | cpio -o -H newc -R 0:0 2>/dev/null) | gzip -1 >"$out" || return 1
	rm -rf "$root"
}
