#!/bin/bash
# Every client of interface.md 4.1 on every class of finite node: text, command, register, cached
# bytes, configuration space, buffer, kernel source and product. True sizes make them all agree.
. "$(dirname "$0")/lib.sh"
requires cp diff cmp file tar python:numpy
in_mount

printf 'kernel void k(global float *a) { a[0] = 1; }\n' >kernels/k.cl || fail "k.cl did not compile"
eventually 120 test -e kernels/k.co || fail "k.cl did not compile"
head -c 5000 /dev/urandom >"$TMP/random"
cp "$TMP/random" buffers/b
NODES="README ctl maps hwmon/name pci/card/vendor pci/card/resource pci/card/config
regs.d/name/bif/mmCONFIG_MEMSIZE bios buffers/b kernels/k.cl kernels/k.co kernels/k.json kernels/k.log"

# client NODE COMMAND... - its output must be the reference copy.
client() {
	local node=$1
	shift
	"$@" >"$TMP/out" 2>"$TMP/err" || fail "$* on $node: $(cat "$TMP/err")"
	same "$* on $node" "$TMP/ref" "$TMP/out"
}

for n in $NODES; do
	# read(2) until the end is the reference
	dd if="$n" of="$TMP/ref" bs=7k status=none
	expect "stat of $n" "$(stat -c %s "$TMP/ref")" "$(stat -Lc %s "$n")"
	client "$n" cat "$n"
	has busybox && client "$n" busybox cat "$n"
	rm -f "$TMP/copy"
	works cp "$n" "$TMP/copy"
	same "cp of $n" "$TMP/ref" "$TMP/copy"
	works diff -q "$n" "$TMP/ref"
	expect "np.fromfile of $n" "$(stat -c %s "$TMP/ref")" "$("$PYTHON" -c "
import shutil, numpy as np
shutil.copyfile('$n', '$TMP/py')
print(np.fromfile('$n', np.uint8).size)" 2>&1)"
	same "shutil.copyfile of $n" "$TMP/ref" "$TMP/py"
	if [ -s "$TMP/ref" ]; then
		case $(file -b "$n") in *empty*) fail "file says $n is empty" ;; esac
	fi
	tar -chf "$TMP/t.tar" "$n" 2>"$TMP/err" || fail "tar of $n: $(cat "$TMP/err")"
	expect "tar of $n" "" "$(cat "$TMP/err")"
	tar -xOf "$TMP/t.tar" >"$TMP/out"
	same "tar of $n" "$TMP/ref" "$TMP/out"
	if has rsync; then
		rm -f "$TMP/rs"
		works rsync -L "$n" "$TMP/rs"
		same "rsync of $n" "$TMP/ref" "$TMP/rs"
	fi
	has git && expect "git hash-object of $n" "$(git hash-object --no-filters "$TMP/ref")" \
		"$(git hash-object --no-filters "$n" 2>&1)"
	expect "head -c3 of $n" "$(head -c3 "$TMP/ref" | od -c)" "$(head -c3 "$n" | od -c)"
done

# mapping: live nodes only privately, cached ones shared
"$PYTHON" - <<'P' || fail "mapping"
import errno, mmap, numpy as np, sys
def shared(path):
    with open(path, 'rb') as f:
        try:
            m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
            b = bytes(m)
            return b == open(path, 'rb').read()
        except OSError as e:
            return errno.errorcode[e.errno]
bad = 0
for path, want in (('buffers/b', 'ENODEV'), ('README', 'ENODEV'), ('bios', True), ('kernels/k.co', True)):
    got = shared(path)
    if got != want:
        print('shared map of', path, 'expected', want, 'got', got)
        bad = 1
if bytes(np.memmap('buffers/b', np.uint8, 'c')) != open('buffers/b', 'rb').read():
    print('private map of buffers/b: wrong bytes')
    bad = 1
sys.exit(bad)
P

# what changes by itself is at least not empty and not padded
for n in status bridge telemetry log; do
	cat "$n" >"$TMP/out"
	[ -s "$TMP/out" ] || fail "$n is empty"
	expect "last byte of $n" "$(printf '\n' | od -c)" "$(tail -c1 "$TMP/out" | od -c)"
done
works "$PYTHON" -c "import json; json.load(open('telemetry'))"
works ls -lR . 
expect "du of the tree without users' files" 0 "$(du -s hwmon | cut -f1)"
works df .
finish
