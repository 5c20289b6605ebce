# trainer_lib.sh - shared by test_trainer_*.sh. Source it with the build folder as first argument of the test.
# Runs the test itself once more inside a captive mount of $card, with $RX580 set; not with own_mount=1.
# shellcheck shell=bash disable=SC2034

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?usage: test BUILD-FOLDER}
trainer=$build/trainer

skip() {
	echo "skipped: $*"
	exit 77
}
fail() {
	echo "FAILED: $*" >&2
	exit 1
}
# expect WHAT WANTED GOT
expect() {
	[ "$2" = "$3" ] || fail "$1: expected \"$2\", got \"$3\""
	echo "ok: $1"
}
# expect_text WHAT PATTERN FILE
expect_text() {
	grep -qE -- "$2" "$3" || fail "$1: expected /$2/ in: $(cat "$3")"
	echo "ok: $1"
}
# status COMMAND...: its exit status, output in $tmp/out
status() {
	"$@" >"$tmp/out" 2>&1
	echo $?
}
# weights FOLDER: one digest over the tensors of a checkpoint
weights() {
	cat "$1"/model.safetensors "$1"/optimizer.safetensors | sha256sum | cut -d ' ' -f 1
}
# python3 with numpy (Debian's, whatever else is in PATH)
find_python() {
	local p
	for p in /usr/bin/python3 python3; do
		"$p" -c "import $1" 2>/dev/null && echo "$p" && return
	done
	return 1
}
# what every test asks of the card and the link
clean_card() {
	expect "guest errors" 0 "$(sed -n 's/^guest_errors //p' "$RX580/bridge")"
	awk '$1 == "max_request_model_s" { exit !($2 < 5) }' "$RX580/bridge" ||
		fail "a request took $(sed -n 's/^max_request_model_s //p' "$RX580/bridge") modelled seconds"
}

[ -c /dev/fuse ] && [ -w /dev/fuse ] || skip "no /dev/fuse"
[ -x "$trainer" ] && [ -x "$build/rx580fs" ] || skip "not built"
if [ "${2-}" != inside ] && [ -z "${own_mount-}" ]; then
	exec "$build/rx580fs" --card "${card-virtual}" --run "'$0' '$build' inside"
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export RX580FS_KERNELS=$build/kernels
