#!/bin/bash
# kernels/: compile at close, bad kernels, temporary names of editors and atomic writers, ready-made
# code objects.
. "$(dirname "$0")/lib.sh"
requires cp mv sed cmp
in_mount

good='kernel void k(global float *a, uint n) { if (get_global_id(0) < n) a[get_global_id(0)] = 1; }'
echo "$good" >"$TMP/k.cl"
echo 'kernel void k(global flot *a) { }' >"$TMP/bad.cl"

works compile "$TMP/k.cl"
for s in cl co log json; do [ -e kernels/k.$s ] || fail "kernels/k.$s is missing"; done
expect "log when clean" "" "$(cat kernels/k.log)"
expect "code object" 7f454c46 "$(head -c4 kernels/k.co | od -An -tx1 | tr -d ' ')"
works "$PYTHON" -c "import json; j = json.load(open('kernels/k.json')); assert 'k' in j['kernels']"
cp kernels/k.co "$TMP/k.co"

miscompiles "$TMP/bad.cl" bad.cl
grep -q 'bad.cl:1:.*error:' kernels/bad.log || fail "bad.log has no file:line:col: $(cat kernels/bad.log)"
[ ! -e kernels/bad.co ] || fail "a kernel that does not compile has a .co"
cp "$TMP/bad.cl" kernels/k.cl 2>/dev/null
eventually 120 test ! -e kernels/k.co || fail "the old .co of a source that no longer compiles is still there"
expect "state" ready "$(value status state)"

# compiles, but needs what no card can give
echo 'kernel void p(global int *x) { printf("%d", *x); }' >"$TMP/p.cl"
miscompiles "$TMP/p.cl" p.cl
grep -q 'p uses printf.*buffer instead' kernels/p.log || fail "p.log does not refuse printf: $(cat kernels/p.log)"
[ ! -e kernels/p.co ] || fail "a kernel with printf has a .co"

# shells ignore errors of close, the log does not
echo 'kernel void e(' >kernels/echo.cl
eventually 120 grep -q error kernels/echo.log || fail "echo.log is empty after a bad echo"

# editors and atomic writers
echo "$good" >kernels/k.cl
works sed -i 's/= 1/= 2/' kernels/k.cl
grep -q '= 2' kernels/k.cl || fail "sed -i changed nothing"
eventually 120 test -e kernels/k.co || fail "no .co after sed -i"
cp "$TMP/k.cl" kernels/.k.cl.swp
works mv kernels/.k.cl.swp kernels/moved.cl
eventually 120 test -e kernels/moved.co || fail "no .co after a rename into place"
cp "$TMP/bad.cl" kernels/t.tmp
works mv kernels/t.tmp kernels/moved.cl
eventually 120 test -s kernels/moved.log || fail "no diagnostics after renaming a bad source into place"
has rsync && works rsync "$TMP/k.cl" kernels/viarsync.cl && { eventually 120 test -e kernels/viarsync.co || fail "no .co after rsync"; }
if has vim; then
	vim -u NONE -es -c 's/= 1/= 3/' -c 'wq' kernels/viarsync.cl </dev/null >/dev/null 2>&1
	grep -q '= 3' kernels/viarsync.cl || fail "vim did not save"
	eventually 120 test -e kernels/viarsync.co || fail "no .co after vim"
fi

# ready-made
works cp "$TMP/k.co" kernels/ready.co
same "ready-made code object" "$TMP/k.co" kernels/ready.co
[ -s kernels/ready.json ] || fail "no json for a ready-made code object"
head -c 100 "$TMP/k.co" >"$TMP/short.co"
refuses "Invalid argument" cp "$TMP/short.co" kernels/short.co
[ -s kernels/short.log ] || fail "short.log does not say why"
refuses "File exists" "$PYTHON" -c "import os; os.open('kernels/bad.co', os.O_CREAT | os.O_EXCL | os.O_WRONLY)"
refuses "not permitted" touch kernels/new.log
refuses "Invalid argument" touch "kernels/a b.cl"
# a source that keeps clang busy does not keep the next one waiting once it is removed
{
	echo '#define A0'
	for i in 1 2 3 4 5 6 7 8 9; do
		a=A$((i - 1))
		echo "#define A$i $a $a $a $a $a $a $a $a $a $a"
	done
	echo A9 # a thousand million times nothing
	cat "$TMP/k.cl"
} >"$TMP/long.cl"
cp "$TMP/long.cl" kernels/long.cl &
eventually 60 [ -s kernels/long.cl ] || fail "long.cl does not appear"
sleep 1
works rm kernels/long.cl
works cp "$TMP/k.cl" kernels/next.cl
eventually 45 test -e kernels/next.co || fail "next.cl: expected a compiled kernel before long.cl's minute is over"
wait

works rm kernels/*
expect "left after rm" "" "$(ls kernels)"
finish
