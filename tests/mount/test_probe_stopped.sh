#!/bin/bash
# Ctrl-C at a probe: it ends after the step under way, not in it, and still writes what it found. The signal is there
# before the program is, held back, so that it always comes in the first step. No mount and no /dev/fuse.
. "$(dirname "$0")/lib.sh"
own_tmp
command -v "$PYTHON" >/dev/null || skip "no $PYTHON"

# with SIGNAL COMMAND... - run it with that signal pending
with() {
	"$PYTHON" -c 'import os, signal, sys
n = getattr(signal, sys.argv[1])
signal.pthread_sigmask(signal.SIG_BLOCK, [n])
os.kill(os.getpid(), n)
os.execv(sys.argv[2], sys.argv[2:])' "$@"
}

for signal in SIGINT SIGTERM SIGHUP; do
	with $signal "$BUILD/rx580fs" probe --card virtual --write-level 2 -o "$TMP/report.json" >"$TMP/out" 2>&1
	expect "exit status after $signal" 1 $?
	expect "the verdict after $signal" 'NOT USABLE: ended after "INQUIRY", as it was told to' "$(grep '^NOT USABLE' "$TMP/out")"
	expect "the report's verdict" 1 "$(grep -c '"verdict": "ended after' "$TMP/report.json")"
	expect "commands in the trace" 1 "$(grep -c '^cmd ' "$TMP/report.json.trace")"
	expect "the trace's end" 1 "$(grep -c '^end 1 ' "$TMP/report.json.trace")"
	rm "$TMP"/*
done

# whoever stops reading does not stop it in the middle
"$BUILD/rx580fs" probe --card virtual --write-level 2 --trace "$TMP/trace" 2>/dev/null | head -n 1 >/dev/null
expect "exit status without a reader" 0 "${PIPESTATUS[0]}"
expect "the trace's end without a reader" 1 "$(grep -c '^end ' "$TMP/trace")"
finish
