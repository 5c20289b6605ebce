# warm.sh - sourced after lib.sh: an enclosure that is a process of its own and outlives its
# daemons, at $CARD, and daemons on it that can be killed.
[ -x "$BUILD/rx580-enclosure" ] || skip "no rx580-enclosure in $BUILD"

RX=$BUILD/rx580fs
own_tmp
SOCK=$TMP/sock
CARD=usbip:unix:$SOCK
D=$TMP/mnt
mkdir "$D"

cleanup() {
	cd /
	fusermount3 -uqz "$D"
	[ -n "$PID" ] && kill -9 "$PID" 2>/dev/null
	[ -n "$SERVER" ] && kill "$SERVER" 2>/dev/null
	rm -rf "$TMP"
}
trap cleanup EXIT

# start_enclosure OPTION...
start_enclosure() {
	"$BUILD/rx580-enclosure" --unix "$SOCK" "$@" 2>"$TMP/server" &
	SERVER=$!
	eventually 60 test -S "$SOCK" || fail "the server does not listen: $(cat "$TMP/server")"
}

# start_daemon OPTION... - its log in $TMP/err.
start_daemon() {
	"$RX" --card "$CARD" "$@" -f "$D" 2>"$TMP/err" &
	PID=$!
	eventually 60 test -r "$D/status" || fail "no mount: $(cat "$TMP/err")"
}

# kill_daemon - as a crash would end it.
kill_daemon() {
	cd /
	kill -9 $PID
	wait $PID 2>/dev/null
	PID=
	fusermount3 -uqz "$D"
}

stop_daemon() {
	cd /
	kill $PID
	wait $PID
	expect "exit status of the daemon" 0 $?
	PID=
}

# unplug, plug_in - and wait until the server says so.
unplug() {
	tell_server USR1 unplugged
}

plug_in() {
	tell_server USR2 "plugged in again"
}

tell_server() { # SIGNAL WORDS
	local told
	told=$(grep -c "$2" "$TMP/server")
	kill -"$1" $SERVER
	eventually 60 said_again "$2" "$told" || fail "the server does not say \"$2\": $(cat "$TMP/server")"
}

said_again() { # WORDS TIMES
	[ "$(grep -c "$1" "$TMP/server")" -gt "$2" ]
}

stop_enclosure() {
	kill -TERM $SERVER
	wait $SERVER
	expect "exit status of the enclosure" 0 $?
	SERVER=
	expect "guest errors" 0 "$(sed -n 's/.*bytes, \([0-9]*\) guest errors/\1/p' "$TMP/server" | sort -n | tail -1)"
}
