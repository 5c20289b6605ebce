# lib.sh - shared by the scripts here: packages, builds, messages. Source it from bash.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Debian 12 packages. Any LLVM from 15 to 19 that is already there is taken, else 19 is installed.
llvm_version() {
	local v
	for v in 19 18 17 16 15; do
		# clang looks for the gfx803 linker in its own folder
		if command -v "clang-$v" >/dev/null && [ -x "/usr/lib/llvm-$v/bin/ld.lld" ]; then
			echo "$v"
			return
		fi
	done
	echo 19
}
packages_build() {
	local v
	v=$(llvm_version)
	echo cmake ninja-build gcc libc6-dev pkg-config "clang-$v" "lld-$v" "llvm-$v" libfuse3-dev fuse3 \
		libusb-1.0-0-dev libjansson-dev liblzma-dev libzstd-dev libcmocka-dev rocm-device-libs
}
packages_test() {
	echo python3 python3-numpy jq xxd attr busybox rsync file pciutils bsdextrautils psmisc procps umockdev libumockdev-dev xz-utils zstd
}
packages_check() {
	echo shellcheck clang-format-19 "libclang-rt-$(llvm_version)-dev"
}
# kernel and busybox of the guest: tests/vm/kernel.sh, which installs nothing
packages_vm() {
	echo qemu-system-x86 cpio kmod sg3-utils usbutils xz-utils
}
packages_slow() {
	echo python3-torch
}

is_installed() { [ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null)" = "install ok installed" ]; }

# ensure_packages LIST... - install what is missing: build, test, check, vm, slow.
ensure_packages() {
	local list package missing=() sudo=()
	if ! command -v apt-get >/dev/null; then
		echo "not a Debian system: taking what is installed"
		return
	fi
	for list in "$@"; do
		for package in $("packages_$list"); do
			is_installed "$package" || missing+=("$package")
		done
	done
	[ ${#missing[@]} = 0 ] && return
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			die "missing packages; run this as root first: apt-get install ${missing[*]}"
		sudo=(sudo)
	fi
	say "installing ${missing[*]}"
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update ||
		echo "apt-get update failed; trying with the lists there are"
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		-o Dpkg::Use-Pty=0 install "${missing[@]}" >"${TMPDIR:-/tmp}/rx580fs-apt.log" 2>&1 || {
		tail -5 "${TMPDIR:-/tmp}/rx580fs-apt.log" >&2
		die "apt-get could not install ${missing[*]}"
	}
}

# build DIR [TARGETS --] [CMAKE OPTIONS...] - configure when needed, then build; quiet unless something is wrong.
build() {
	local dir=$1 targets=()
	shift
	while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do
		targets+=("$1")
		shift
	done
	[ "${1-}" = -- ] && shift
	mkdir -p "$dir"
	cmake -S "$root" -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" >"$dir/configure.log" 2>&1 || {
		cat "$dir/configure.log" >&2
		return 1
	}
	cmake --build "$dir" ${targets[0]:+--target "${targets[@]}"} -- --quiet
}

has_fuse() { [ -c /dev/fuse ] && [ -r /dev/fuse ] && [ -w /dev/fuse ]; }
