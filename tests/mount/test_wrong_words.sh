#!/bin/bash
# Wrong words on the command lines: every one is refused at once, in words that name it, and nothing is harmed by it. No
# mount and no /dev/fuse.
. "$(dirname "$0")/lib.sh"
own_tmp
RX=$BUILD/rx580fs
ENC=$BUILD/rx580-enclosure

# refused STATUS WORDS COMMAND... - without waiting for anything, with that exit status, and WORDS in what it says.
refused() {
	local status=$1 want=$2 out
	shift 2
	out=$(timeout 60 "$@" 2>&1 </dev/null)
	expect "status of $*" "$status" $?
	case $out in
	*"$want"*) ;;
	*) fail "$*: expected '$want', got '$(tail -n 1 <<<"$out")'" ;;
	esac
}

mkfifo "$TMP/pipe"
refused 1 "cannot read the trace" "$RX" probe --card "replay:$TMP/pipe"
truncate -s 65M "$TMP/huge"
refused 1 "File too large" "$RX" probe --card "replay:$TMP/huge"
refused 1 '"replay:" is no card' "$RX" probe --card replay:
refused 1 '"sg:" is no card' "$RX" probe --card sg:
refused 1 "is no VBIOS image" "$RX" probe --card "virtual,vbios=$TMP/pipe"
refused 1 "longer than 512 KiB" "$RX" probe --card virtual,vbios=/dev/zero
refused 1 "is no firmware version" "$RX" probe --card virtual,firmware=-1.2.3
refused 1 "is no firmware version" "$RX" probe --card virtual,firmware=1.32.87x
refused 1 "only one firmware" "$RX" probe --card virtual,bridge=asm2362,firmware=1.32.87
refused 1 "is no USB/IP server" "$RX" probe --card usbip:localhost:65536
refused 2 "want a file each" "$RX" probe --card virtual -o "$TMP/a" --trace "$TMP/a"
refused 2 "is no firmware version" "$ENC" --unix "$TMP/s" --vram 64 --firmware x
refused 2 "only one firmware" "$ENC" --unix "$TMP/s" --vram 64 --bridge asm2464 --firmware 1.32.16
refused 2 "is not HOST:PORT" "$ENC" --vram 64 --listen 127.0.0.1:65536
refused 2 "is not HOST:PORT" "$ENC" --vram 64 --listen 127.0.0.1:4294967297

# a report goes into what is there, whatever it is
timeout 120 "$RX" probe --card virtual -o "$TMP/pipe" --trace "$TMP/trace" >"$TMP/out" 2>&1 &
P=$!
expect "a report through a pipe" 1 "$(timeout 120 grep -c '"format": "rx580fs-probe-1"' "$TMP/pipe")"
wait $P || fail "probe -o PIPE: expected status 0, got $?"
expect "the last word" "This was the enclosure played in software; no real one was examined." "$(tail -n 1 "$TMP/out")"
[ -p "$TMP/pipe" ] || fail "the report took the pipe's place"
finish
