#!/bin/bash
# Registers: by offset, by name, masked writes, bank bits, refusals.
. "$(dirname "$0")/lib.sh"
requires dd od
in_mount

R=regs.d/name/gfx/mmSCRATCH_REG0
put $R 0xcafedead
expect "by name" 0xcafedead "$(cat $R)"
expect "by offset" cafedead "$(dd if=regs bs=4 skip=$((0x30100 / 4)) count=1 status=none | od -An -tx4 | tr -d ' ')"
printf '\x78\x56\x34\x12' | dd of=regs bs=4 seek=$((0x30100 / 4)) conv=notrunc status=none
expect "written by offset" 0x12345678 "$(cat $R)"
put $R "0xff 0x11"
expect "masked" 0x12345611 "$(cat $R)"
put $R 7
expect "decimal" 0x00000007 "$(cat $R)"
refuses "Invalid argument" put $R pig
refuses "Invalid argument" put $R "1 2 3"
refuses "Invalid argument" put $R 0x100000000
refuses "Invalid argument" dd if=<(printf '5\0x') of=$R conv=notrunc status=none
for bad in ' -1' '-1' '1 2' pig; do refuses "Invalid argument" put hwmon/update_interval "$bad"; done
refuses "Invalid argument" dd if=<(printf '500\0x') of=hwmon/update_interval conv=notrunc status=none
refuses "Invalid argument" dd if=regs bs=2 count=1 status=none
refuses "Invalid argument" dd if=regs bs=4 iflag=skip_bytes skip=2 count=1 status=none
# whole dumps harm nothing: finish wants no guest error
expect "a dump" 262144 "$(cat regs | wc -c)"
works find regs.d -type f -exec cat {} +
expect "data ports and queue registers by name" "" "$(find regs.d -name 'mm*_DATA' -o -name '*UCODE*' -o -name 'mmCP_HQD*')"
expect "size" 262144 "$(stat -c %s regs)"
expect "at the end" 0 "$(dd if=regs bs=4 skip=65536 count=1 status=none | wc -c)"
"$PYTHON" - <<'P' || fail "bank bits"
import os, sys
fd = os.open('regs', os.O_RDWR)
index = 0x30800
bank = 1 << 62 | 1 << 24 | 0x3ff << 34 | 0x3ff << 44
got = int.from_bytes(os.pread(fd, 4, bank | index), 'little'), int.from_bytes(os.pread(fd, 4, index), 'little')
if got != (0x60010000, 0xe0000000):
    sys.exit('expected GRBM_GFX_INDEX 60010000 inside and e0000000 after, got %x %x' % got)
try:
    os.pread(fd, 4, 3 << 61)
    sys.exit('both bank bits: expected EINVAL')
except OSError:
    pass
P
finish
