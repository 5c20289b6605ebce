#!/usr/bin/env bash
# The daemon is killed while the trainer runs: it says so, ends with status 3, and the run goes on bit by bit on a new mount.
set -e
own_mount=1
# shellcheck source=tests/mount/trainer_lib.sh
. "$(dirname "$0")/trainer_lib.sh"
gpu=$TMP/gpu
mkdir "$gpu"
daemon=
cleanup() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
	fusermount3 -quz "$gpu" 2>/dev/null || true
	rm -rf --one-file-system "$TMP"
}
trap cleanup EXIT
start() { # CARD
	"$BUILD/rx580fs" --card "$1" -f "$gpu" 2>"$TMP/daemon.txt" &
	daemon=$!
	eventually 60 test -e "$gpu/status" || fail "no mount: $(cat "$TMP/daemon.txt")"
}
run() { "$trainer" --gpu "$gpu" --steps 16 --save-every 4 --eval-every 100 --out "$@" >"$TMP/run.txt" 2>&1; }

start virtual
run "$TMP/whole" || fail "$(cat "$TMP/run.txt")"
for _ in $(seq 10); do # until the daemon dies before the run is over
	rm -rf "$TMP/cut"
	run "$TMP/cut" &
	pid=$!
	until [ -e "$TMP/cut/step-00000004" ]; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.02
	done
	kill -KILL $daemon
	code=0
	wait $pid || code=$?
	[ $code = 0 ] || break
	start virtual
done
expect "exit status when the daemon dies" 3 $code
expect_text "its words" "daemon of this mount is gone|card or its bridge is gone" "$TMP/run.txt"
expect "exit status on the dead mount" 3 "$(status "$trainer" --gpu "$gpu" --out "$TMP/x")"
expect_text "words on the dead mount" "daemon is gone" "$TMP/out"
start virtual,threads=1 # cleans the stale mount up; other cores, same bits
run "$TMP/cut" --resume || fail "$(cat "$TMP/run.txt")"
expect "resumed on a new mount" "$(weights "$TMP/whole/step-00000016")" "$(weights "$TMP/cut/step-00000016")"
