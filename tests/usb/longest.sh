#!/bin/bash
# A host whose kernel moves no more than SG_LONGEST bytes in one SG_IO: longest.sh BUILD, run by usb_host. The probe takes that
# for a limit and no surprise, its trace plays back, and the mount's requests are split below it.
BUILD=$1
. "$(dirname "$0")/../mount/lib.sh"
requires grep cmp
own_tmp
RX=$BUILD/rx580fs
head -c 20000 /dev/urandom >"$TMP/data"
export DATA=$TMP/data

"$RX" probe --card sg:/dev/sg0 -o "$TMP/report.json" >"$TMP/out" 2>&1
expect "the probe, exit status" 0 $?
grep -q "4096 bytes, the host's kernel allows no more" "$TMP/out" || fail "the probe says of the host's limit: $(grep -A3 longest "$TMP/out")"
"$RX" probe --card "replay:$TMP/report.json.trace" >"$TMP/again" 2>&1
expect "the trace plays back, exit status" 0 $?
grep -q "4096 bytes, the host's kernel allows no more" "$TMP/again" || fail "played back, it says: $(grep -A3 longest "$TMP/again")"
expect "a mount behind that limit" same "$("$RX" --card sg:/dev/sg0 --run 'cp "$DATA" "$RX580/buffers/x" && cmp "$DATA" "$RX580/buffers/x" && echo same' 2>"$TMP/log")"
finish
