#!/bin/bash
# kill -9 of the daemon leaves nothing for long: the next start takes away the private mount of --run
# and the folder of a compiler that was at work, which ends with its daemon.
. "$(dirname "$0")/lib.sh"
requires fusermount3 mountpoint
own_tmp
export TMPDIR=$TMP
RX=$BUILD/rx580fs
PID=
cleanup() {
	local m
	cd /
	[ -n "$PID" ] && kill -9 "$PID" 2>/dev/null
	[ -f "$TMP/command" ] && kill "$(cat "$TMP/command")" 2>/dev/null
	for m in "$TMP"/rx580fs-run-*/gpu; do
		fusermount3 -uqz "$m"
	done
	rm -rf --one-file-system "$TMP"
}
trap cleanup EXIT
folders() { find "$TMP" -maxdepth 1 -name "rx580fs-$1-*" | wc -l; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# stands for clang: says who it is and does not end
mkdir "$TMP/bin"
cat >"$TMP/bin/clang-19" <<'C'
#!/bin/sh
: >"$TMPDIR/left.o"
echo $$ "$TMPDIR" >"$WHERE.new" && mv "$WHERE.new" "$WHERE"
exec sleep 300
C
chmod +x "$TMP/bin/clang-19"
export WHERE=$TMP/compiler

PATH=$TMP/bin:$PATH "$RX" --card "$CARD" --run '
	echo $$ >"$TMPDIR/command"
	echo "kernel void k() {}" >"$RX580/kernels/k.cl" &
	echo "$RX580" >"$TMPDIR/where.new" && mv "$TMPDIR/where.new" "$TMPDIR/where"
	exec sleep 300' 2>"$TMP/err" &
PID=$!
eventually 60 test -s "$WHERE" || fail "no compiler was started: $(cat "$TMP/err")"
eventually 60 test -s "$TMP/where" || fail "the command did not start"
read -r compiler folder <"$WHERE"
mount=$(cat "$TMP/where")
[ -e "$folder/left.o" ] || fail "the compiler's temporary files are not in its own folder: $folder"

# the living keep what is theirs
"$RX" --card "$CARD" --run true 2>/dev/null
expect "private folders while the daemon lives" 1 "$(folders run)"
expect "compiler folders while the daemon lives" 1 "$(folders cc)"
expect "state" ready "$(value "$mount/status" state)"

kill -9 "$PID"
wait "$PID" 2>/dev/null
PID=
eventually 60 gone "$compiler" || fail "the compiler lives on after its daemon"
expect "private folders after kill -9" 1 "$(folders run)"
"$RX" --card "$CARD" --run 'ls -d "$TMPDIR"/rx580fs-* >"$TMPDIR/seen"; echo "${RX580%/gpu}" >>"$TMPDIR/seen"' 2>"$TMP/err"
expect "status of the next start" 0 $?
grep -q "removed 1 private mount" "$TMP/err" || fail "the clean-up is not said: $(cat "$TMP/err")"
expect "folders the next start sees, but its own" "" "$(sort "$TMP/seen" | uniq -u)"
expect "mounts left" "" "$(grep " $TMP/" /proc/self/mountinfo)"
expect "folders left" 0 "$(($(folders run) + $(folders cc)))"
finish
