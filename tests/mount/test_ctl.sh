#!/bin/bash
# Command nodes: whole lines, first bad line stops, resets.
. "$(dirname "$0")/lib.sh"
requires sh
in_mount

grep -q '^reset soft' ctl || fail "reading ctl does not list the verbs"
refuses "Invalid argument" put ctl "bogus"
grep -q 'unknown command "bogus"' log || fail "the log does not quote the bad line"
case $(value status last_error) in *bogus*) ;; *) fail "last_error: $(value status last_error)" ;; esac
works sh -c '{ echo loglevel debug; echo loglevel usb info; } >ctl'
works sh -c 'echo loglevel info >>ctl'
works truncate -s 0 ctl
refuses "Invalid argument" put ctl "timeout_ms 5"
works put ctl "timeout_ms 4000"
works put hwmon/update_interval 300
expect "update_interval" 300 "$(cat hwmon/update_interval)"
refuses "Invalid argument" put hwmon/update_interval never

printf 'bytes' >buffers/b
works put ctl "reset soft"
expect "buffer after reset soft" bytes "$(cat buffers/b)"
echo 'kernel void k(global float *a) { a[0] = 1; }' >kernels/k.cl
eventually 120 test -e kernels/k.co || fail "k.cl did not compile"
g=$(value status generation)
works put ctl "reset card"
expect "state after reset card" ready "$(value status state)"
[ "$(value status generation)" != "$g" ] || fail "generation did not change with reset card"
expect "buffers after reset card" "" "$(ls buffers)"
[ -e kernels/k.co ] || fail "kernels are gone after reset card"
printf 'again' >buffers/b || fail "no buffer after reset card"
expect "buffer after reset card" again "$(cat buffers/b)"
finish
