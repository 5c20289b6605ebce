#!/bin/bash
# Starting and ending: background and foreground, umount, SIGTERM, kill -9 and the dead mount it
# leaves, wrong mount points, captive mode.
. "$(dirname "$0")/lib.sh"
requires fusermount3 mountpoint
own_tmp
# processes are looked for by these names: the same test may run twice on a machine
MNT=mnt$$ LINK=link$$
D=$TMP/$MNT
mkdir "$D"
RX=$BUILD/rx580fs

pid_of() { pgrep -f "rx580fs --card $CARD .*$D" | head -1; }
mounted() { mountpoint -q "$D"; }
unmounted() { ! mountpoint -q "$D" && ! pid_alive; }
pid_alive() { [ -n "$PID" ] && kill -0 "$PID" 2>/dev/null && [ "$(ps -o stat= -p "$PID" | cut -c1)" != Z ]; }
cleanup() {
	cd /
	fusermount3 -uqz "$D"
	[ -n "$PID" ] && kill -9 "$PID" 2>/dev/null
	rm -rf "$TMP"
}
trap cleanup EXIT

# background: usable when the parent returns
works "$RX" --card "$CARD" "$D"
mounted || fail "not mounted when the background start returned"
PID=$(pid_of)
expect "state" ready "$(value "$D/status" state)"
expect "type" fuse.rx580fs "$(stat -f -c %T "$D" >/dev/null; awk -v d="$D" '$5 == d { for (i = 7; i < NF; i++) if ($i == "-") print $(i + 1) }' /proc/self/mountinfo)"
RX580=$D check_card
works fusermount3 -u "$D"
eventually 60 unmounted || fail "the daemon lives on after umount"

# foreground; SIGTERM with an open file leaves nothing
"$RX" --card "$CARD" -f "$D" 2>"$TMP/err" &
PID=$!
eventually 60 mounted || fail "not mounted: $(cat "$TMP/err")"
exec 3<"$D/status"
refuses busy fusermount3 -u "$D"
kill -TERM $PID
wait $PID
expect "exit status after SIGTERM" 0 $?
mounted && fail "still mounted after SIGTERM"
refuses "not connected" cat <&3
exec 3<&-
expect "left in the folder" "" "$(ls -A "$D")"

gone() { ! kill -0 "$1" 2>/dev/null; }

# kill -9, and the next start on the dead mount; a relative path
works "$RX" --card "$CARD" "$D"
PID=$(pid_of)
kill -9 "$PID"
eventually 60 gone "$PID" # a call that meets the dying daemon gets another error
refuses "not connected" ls "$D"
cd "$TMP" || exit 1
"$RX" --card "$CARD" $MNT 2>"$TMP/err" || fail "no start on a dead mount: $(cat "$TMP/err")"
grep -q "detached the mount a killed rx580fs left" "$TMP/err" || fail "the clean-up is not said: $(cat "$TMP/err")"
PID=$(pgrep -f "rx580fs --card $CARD $MNT" | head -1)
expect "state after clean-up" ready "$(value "$D/status" state)"
refuses "already is a mount of rx580fs" "$RX" --card "$CARD" $MNT
kill -TERM "$PID"
eventually 60 unmounted || fail "the daemon lives on after SIGTERM"

# the same through a symbolic link
ln -s $MNT $LINK
works "$RX" --card "$CARD" $LINK
PID=$(pgrep -f "rx580fs --card $CARD $LINK" | head -1)
kill -9 "$PID"
eventually 60 gone "$PID" # a call that meets the dying daemon gets another error
refuses "not connected" ls "$D"
works "$RX" --card "$CARD" $LINK
PID=$(pgrep -f "rx580fs --card $CARD $LINK" | head -1)
expect "state behind the link" ready "$(value "$D/status" state)"
kill -TERM "$PID"
eventually 60 unmounted || fail "the daemon behind the link lives on after SIGTERM"
cd / || exit 1
PID=

# what cannot work says so and leaves no process
refuses "No such file" "$RX" --card "$CARD" "$TMP/nowhere"
refuses "not a folder" "$RX" --card "$CARD" "$RX"
refuses "" "$RX" --card nonsense "$D"
mounted && fail "mounted with a card of nonsense"
refuses "unknown mount option" "$RX" -o frobnicate "$D"

# captive mode: status, environment, nothing left
export TMPDIR=$TMP
"$RX" --card "$CARD" --run 'test -r "$RX580/status" && echo "$RX580" >"$TMPDIR/where"; exit 42' 2>/dev/null
expect "captive status" 42 $?
[ ! -e "$(cat "$TMP/where")" ] || fail "the private folder is still there"
"$RX" --card "$CARD" --run 'kill -9 $$' 2>/dev/null
expect "captive status of a killed command" 137 $?
expect "folders left" "" "$(find "$TMP" -maxdepth 1 -name 'rx580fs-*')"

out=$("$RX" --version)
case $out in *"hardware: unverified"*) ;; *) fail "--version: $out" ;; esac
"$RX" --help | grep -q "hardware: unverified" || fail "--help does not say that hardware is unverified"

# sd_notify
if "$PYTHON" - "$RX" "$CARD" "$D" <<'P'; then :; else fail "READY=1 did not come after the mount"; fi
import os, socket, subprocess, sys
rx, card, d = sys.argv[1:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('\0rx580fs-test-%d' % os.getpid())
s.settimeout(120)
p = subprocess.Popen([rx, '--card', card, '-f', d], stderr=subprocess.DEVNULL,
                     env=dict(os.environ, NOTIFY_SOCKET='@rx580fs-test-%d' % os.getpid()))
ok = s.recv(100) == b'READY=1' and os.path.exists(d + '/status')
p.terminate()
sys.exit(not (p.wait() == 0 and ok))
P
finish
