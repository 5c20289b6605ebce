#!/bin/bash
# checkpoints/: save, read, map, upload, load, refusals.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plan.sh"
requires cp od
in_mount
make_plan

step() {
	exec 3<>plans/p/run
	echo "$1" >&3
	cat <&3 >/dev/null
	exec 3>&-
}

step 3
refuses "Invalid argument" put checkpoints/ctl "save s3 p cursor"
refuses "Invalid argument" put checkpoints/ctl "save s3 p step=9"
works put checkpoints/ctl "save s3 p cursor=77 note=a=b"
F=checkpoints/s3.safetensors
works cp $F "$TMP/s3"
expect "size" "$(stat -c %s "$TMP/s3")" "$(stat -c %s $F)"
eventually 60 step 4
same "frozen while the plan goes on" "$TMP/s3" $F
expect "sum" 7 "$(sums)"
"$PYTHON" - "$F" <<'P' || fail "an independent reader"
import json, mmap, numpy as np, sys
with open(sys.argv[1], 'rb') as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)  # shared: the node is cached
    n = int.from_bytes(m[:8], 'little')
    head = json.loads(m[8:8 + n])
    t = head['sum']
    begin, end = t['data_offsets']
    x = np.frombuffer(m[8 + n + begin:8 + n + end], np.float32).reshape(t['shape'])
sys.exit(not ((x == 3).all() and head['__metadata__'] == {'step': '3', 'plan': 'p', 'cursor': '77', 'note': 'a=b'}))
P
refuses "busy" put checkpoints/ctl "save s4 p"
refuses "File exists" put checkpoints/ctl "save s3 p"
refuses "No such file" put checkpoints/ctl "save s5 nobody"
refuses "not permitted" sh -c "cat '$TMP/s3' | dd of=$F conv=notrunc status=none"
refuses "not permitted" touch checkpoints/other

works put checkpoints/ctl "load s3 p"
expect "sum after load" 3 "$(sums)"
expect "step after load" 3 "$(value plans/p/status steps_done)"

# removed while it is read: the reader may finish
exec 4<$F
works rm $F
cat <&4 >"$TMP/got"
same "removed while open" "$TMP/s3" "$TMP/got"
exec 4<&-

works cp "$TMP/s3" checkpoints/up.safetensors
same "uploaded" "$TMP/s3" checkpoints/up.safetensors
eventually 60 step 1
works put checkpoints/ctl "load up p"
expect "sum after loading an upload" 3 "$(sums)"
works rm checkpoints/up.safetensors

head -c 700 "$TMP/s3" >"$TMP/short"
refuses "Invalid argument" cp "$TMP/short" checkpoints/short.safetensors
{ printf '\377\377\377\377\377\377\377\177'; tail -c +9 "$TMP/s3"; } >"$TMP/lying"
refuses "Invalid argument" cp "$TMP/lying" checkpoints/lying.safetensors
sed 's/\[256\]/[255]/' "$TMP/s3" >"$TMP/shape"
refuses "Invalid argument" cp "$TMP/shape" checkpoints/shape.safetensors
expect "left after bad uploads" ctl "$(ls checkpoints)"
works cp "$TMP/s3" checkpoints/again.safetensors
expect "sum is untouched by bad uploads" 3 "$(sums)"
finish
