# lib.sh - sourced by every mount test: bash, build directory in $1.
# A test calls requires, then in_mount: the script runs again under `rx580fs --run` with $RX580 set,
# leaves nothing behind, and ends with finish, which wants no guest error and no long request.
# RX580_CARD chooses another card than the virtual one.

BUILD=$1
NAME=$(basename "$0" .sh)
CARD=${RX580_CARD:-virtual}
PYTHON=${PYTHON:-/usr/bin/python3}
FAILED=0

skip() {
	echo "SKIP $NAME: $*"
	exit 77
}

# requires CLIENT... - skip aloud when a program, or /dev/fuse, is missing. A word like
# python:numpy is a Python module.
requires() {
	local c
	[ -w /dev/fuse ] || skip "no /dev/fuse"
	[ -x "$BUILD/rx580fs" ] || skip "no rx580fs in $BUILD"
	for c in "$@"; do
		case $c in
		python:*)
			"$PYTHON" -c "import ${c#python:}" 2>/dev/null || skip "no Python module ${c#python:}"
			;;
		*)
			command -v "$c" >/dev/null || skip "no $c"
			;;
		esac
	done
}

# has CLIENT - whether an optional client is there; says when not.
has() {
	command -v "$1" >/dev/null && return 0
	echo "note: $1 is not installed, its part is left out"
	return 1
}

# own_tmp - a folder of our own outside the mount, $TMP, removed at exit. What the driver remembers of
# boards goes there, too: neither the user's files nor another test's matter.
own_tmp() {
	TMP=$(mktemp -d) || exit 1
	export XDG_STATE_HOME=$TMP/state XDG_CACHE_HOME=$TMP/cache
	trap 'cd /; rm -rf "$TMP"' EXIT
}

# in_mount - run this script inside a private mount.
in_mount() {
	if [ -z "$RX580_INSIDE" ]; then
		RX580_INSIDE=1 exec "$BUILD/rx580fs" --card "$CARD" --run "exec bash '$0' '$BUILD'"
	fi
	own_tmp
	cd "$RX580" || exit 1
}

fail() {
	echo "FAIL $NAME: $*"
	FAILED=1
}

# expect WHAT WANTED GOT
expect() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# same WHAT FILE FILE
same() {
	cmp -s "$2" "$3" || fail "$1: expected the bytes of $2 ($(stat -c %s "$2")), got $3 ($(stat -c %s "$3" 2>&1))"
}

# refuses WORDS COMMAND... - the command must fail and say WORDS.
refuses() {
	local want=$1 out
	shift
	if out=$("$@" 2>&1); then
		fail "$*: expected '$want', but it succeeded"
	else
		case $out in
		*"$want"*) ;;
		*) fail "$*: expected '$want', got '$out'" ;;
		esac
	fi
}

# works COMMAND...
works() {
	local out
	out=$("$@" 2>&1) || fail "$*: expected success, got '$out'"
}

# put NODE TEXT - one write, as echo does; refuses() can call it.
put() {
	printf '%s\n' "$2" >"$1"
}

# value NODE KEY - from a flat keyed text.
value() {
	sed -n "s/^$2 //p" "$1"
}

# eventually SECONDS COMMAND... - wait until it succeeds; a minute or more, for the machine may be busy.
eventually() {
	local end=$((SECONDS + $1))
	shift
	until "$@" 2>/dev/null; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# compile SOURCE [NAME.cl] - the close comes back after 8 s whatever the compiler does (interface.md 6).
compile() {
	local name=${2:-$(basename "$1")}
	cp "$1" "kernels/$name" && eventually 120 test -e "kernels/${name%.cl}.co"
}

# miscompiles SOURCE NAME.cl - refused by the close, or later than that.
miscompiles() {
	local begin=$SECONDS
	if cp "$1" "kernels/$2" 2>"$TMP/says"; then
		[ $((SECONDS - begin)) -ge 7 ] || fail "$2: expected 'Invalid argument', but it succeeded"
	else
		grep -q "Invalid argument" "$TMP/says" || fail "$2: expected 'Invalid argument', got '$(cat "$TMP/says")'"
	fi
	eventually 120 test -s "kernels/${2%.cl}.log" || fail "$2: no diagnostics"
}

# no_samples - telemetry rests from now on, so that only the test itself sends commands.
no_samples() {
	put hwmon/update_interval 3600000
	sleep 0.5                                    # one of the old interval may be asked for just now
	cat regs.d/name/gfx/mmSCRATCH_REG0 >/dev/null # comes after it
}

# check_card - the checks at the end of every mount.
check_card() {
	local s
	expect "guest errors" 0 "$(value "$RX580/bridge" guest_errors)"
	s=$(value "$RX580/bridge" max_request_model_s)
	awk -v s="$s" 'BEGIN { exit !(s != "" && s < 5) }' || fail "longest request: expected less than 5 modelled seconds, got '$s'"
}

finish() {
	[ -z "$RX580" ] || check_card
	[ $FAILED = 0 ] && echo "ok $NAME"
	exit $FAILED
}
