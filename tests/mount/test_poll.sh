#!/bin/bash
# poll(2): ready, changed, grown.
. "$(dirname "$0")/lib.sh"
requires "$PYTHON"
in_mount
"$PYTHON" - <<'P' || fail "poll"
import os, select, sys, time

def events(fd, wanted, ms):
    p = select.poll()
    p.register(fd, wanted)
    return dict(p.poll(ms)).get(fd, 0)

def check(what, want, got):
    if bool(want) != bool(got):
        sys.exit('%s: expected %r, got %r' % (what, want, got))

fd = os.open('vram', os.O_RDWR)
check('vram ready', 5, events(fd, select.POLLIN | select.POLLOUT, 60000) == 5)

# status: PRI until read, then again when something changed
fd = os.open('status', os.O_RDONLY)
check('status before reading', True, events(fd, select.POLLPRI, 60000))
os.pread(fd, 4096, 0)
check('status unchanged', False, events(fd, select.POLLPRI, 300))
pid = os.fork()
if pid == 0:
    time.sleep(0.3)
    with open('buffers/b', 'wb') as f:
        f.write(bytes(100000))
    os._exit(0)
t = time.time()
check('status changed', True, events(fd, select.POLLPRI, 60000))
os.waitpid(pid, 0)
before = os.pread(fd, 4096, 0)
check('re-armed at 0', True, b'vram_used' in before)

# log: IN when longer than read
fd = os.open('log', os.O_RDONLY)
while os.read(fd, 65536):
    pass
check('log at its end', False, events(fd, select.POLLIN, 300))
try:
    with open('ctl', 'w') as f:
        f.write('nonsense\n')
except OSError:
    pass
check('log grew', True, events(fd, select.POLLIN, 60000))
check('log line', True, b'nonsense' in os.read(fd, 65536))

# telemetry: PRI with every sample
fd = os.open('telemetry', os.O_RDONLY)
os.read(fd, 4096)
check('next sample', True, events(fd, select.POLLPRI, 60000))
P
tail -n0 -f log >"$TMP/tail" &
followed() { # nobody knows when tail begins to look
	put ctl "followed"
	grep -q followed "$TMP/tail"
}
eventually 60 followed || fail "tail -f log does not follow"
kill $!
finish
