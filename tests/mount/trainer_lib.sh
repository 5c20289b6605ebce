# trainer_lib.sh - sourced by test_trainer_*.sh after they said what they need: lib.sh, and a test ends with its first
# failure. Runs the test inside a captive mount of $card; with own_mount=1 not.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/mount/lib.sh
. "$here/lib.sh"
CARD=${RX580_CARD:-${card-virtual}}
trainer=$BUILD/trainer
export RX580FS_KERNELS=$BUILD/kernels

fail() {
	echo "FAIL $NAME: $*"
	exit 1
}
# expect WHAT WANTED GOT
expect() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
	echo "ok: $1"
}
# expect_text WHAT PATTERN FILE
expect_text() {
	grep -qE -- "$2" "$3" || fail "$1: expected /$2/ in: $(cat "$3")"
	echo "ok: $1"
}
# status COMMAND...: its exit status, output in $TMP/out
status() {
	"$@" >"$TMP/out" 2>&1
	echo $?
}
# weights FOLDER: one digest over the tensors of a checkpoint
weights() {
	cat "$1"/model.safetensors "$1"/optimizer.safetensors | sha256sum | cut -d ' ' -f 1
}
# leftovers: files of clients on the mount
leftovers() {
	find "$RX580/buffers" "$RX580/plans" "$RX580/checkpoints" -type f ! -name ctl
}

[ -x "$trainer" ] || skip "no trainer in $BUILD"
# shellcheck disable=SC2086 # a list
requires ${needs-}
if [ -n "${own_mount-}" ]; then
	own_tmp
else
	in_mount
fi
