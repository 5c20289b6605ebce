# kernel.sh - what the guest is made of and Debian has: kernel, modules, a static busybox. Downloaded and unpacked, never
# installed. Sourced by boot.sh.
# shellcheck shell=bash

# payload BZIMAGE OUT - the ELF kernel inside, which QEMU starts without decompressing (PVH). Offsets: Linux
# Documentation/arch/x86/boot.rst, setup_sects, payload_offset, payload_length.
payload() {
	local sects offset len tool
	sects=$(od -An -tu1 -j497 -N1 "$1")
	offset=$(od -An -tu4 -j584 -N4 "$1")
	len=$(od -An -tu4 -j588 -N4 "$1")
	for tool in "xz -dc --single-stream" "zstd -dcq" "gzip -dc"; do
		tail -c +$(((sects + 1) * 512 + offset + 1)) "$1" | head -c "$len" | $tool >"$2" 2>/dev/null
		[ "$(head -c 4 "$2" | tail -c 3)" = ELF ] && return
	done
	cp "$1" "$2" # a compressor we do not have: QEMU takes this as well, only slower
}

# take_modules TREE OUT MODULE... - what they need, uncompressed, stripped, and the order to load them in
take_modules() {
	local tree=$1 out=$2 version module file name
	shift 2
	version=$(cd "$tree/lib/modules" && echo *)
	depmod -b "$tree" "$version" || return 1
	for module in "$@"; do
		modprobe -d "$tree" -S "$version" -D "$module" || return 1
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$out/files"
	while read -r file; do
		name=${file##*/}
		name=${name%.ko*}
		case $file in
		*.xz) xz -dc "$file" ;;
		*.zst) zstd -dcq "$file" ;;
		*) cat "$file" ;;
		esac >"$out/$name.ko" || return 1
		! command -v strip >/dev/null || strip -g "$out/$name.ko" || return 1
		echo "$name" >>"$out/order"
	done <"$out/files"
	[ -s "$out/order" ]
}

# unpack DIR PACKAGE... - download and unpack into DIR/tree. As root apt would drop its rights and miss the folder's.
unpack() {
	local dir=$1 deb
	shift
	mkdir -p "$dir/deb" "$dir/tree"
	(cd "$dir/deb" && timeout 300 apt-get -qq -o APT::Sandbox::User=root download "$@") || return 1
	for deb in "$dir"/deb/*.deb; do
		dpkg-deb -x "$deb" "$dir/tree" || return 1
	done
	[ -d "$dir/tree/lib" ] || ln -s usr/lib "$dir/tree/lib" # merged: Debian 13
}

# fetch_kernel DIR MODULE... - DIR/kernel, DIR/modules, DIR/busybox. What an earlier run left there is taken as it is.
fetch_kernel() {
	local dir=$1 package
	shift
	[ "$(cat "$dir/complete" 2>/dev/null)" = "$*" ] && return
	package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }')
	if [ -z "$package" ]; then
		echo "apt knows no linux-image-amd64; apt-get update?"
		return 1
	fi
	rm -rf "$dir"
	mkdir -p "$dir/modules"
	unpack "$dir" "$package" busybox-static || return 1
	payload "$dir"/tree/boot/vmlinuz-* "$dir/kernel" || return 1
	take_modules "$dir/tree" "$dir/modules" "$@" || return 1
	cp "$dir"/tree/bin/busybox "$dir/busybox" 2>/dev/null || cp "$dir"/tree/usr/bin/busybox "$dir/busybox" || return 1
	rm -rf "$dir/deb" "$dir/tree"
	echo "$*" >"$dir/complete"
}
