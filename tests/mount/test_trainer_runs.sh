#!/usr/bin/env bash
# One seed, one result: two runs, a run on one core, a run killed with kill -9 and resumed, a run interrupted and resumed
# all end in the same bits. The checkpoint opens in a reader that knows only the format.
set -e
needs="python:numpy"
# shellcheck source=tests/mount/trainer_lib.sh
. "$(dirname "$0")/trainer_lib.sh"
steps=24
run() { # OUT OPTION...
	local out=$1
	shift
	"$trainer" --gpu "$RX580" --steps $steps --save-every 6 --eval-every 100 --seed 3 --out "$TMP/$out" "$@" >"$TMP/$out.txt" 2>&1
}
# wait_for FILE PID: until it exists, a log with a first loss, or the process is gone
wait_for() {
	while ! { [ -d "$1" ] || grep -qs '"loss"' "$1"; } && kill -0 "$2" 2>/dev/null; do sleep 0.02; done
}
last=step-$(printf %08d $steps)

run first || fail "first run: $(cat "$TMP/first.txt")"
whole=$(weights "$TMP/first/$last")
expect "the mount is tidy afterwards" "" "$(leftovers)"
run again
expect "a second run with one seed" "$whole" "$(weights "$TMP/again/$last")"
cmp <(sed 's/,"seconds":[^}]*//' "$TMP/first/log.jsonl" | grep loss) <(sed 's/,"seconds":[^}]*//' "$TMP/again/log.jsonl" | grep loss) ||
	fail "the losses of two runs differ"
run other --seed 4
[ "$whole" != "$(weights "$TMP/other/$last")" ] || fail "another seed gave the same weights"

# cut_short SIGNAL FILE COMMAND...: the command gets the signal when FILE is there, again from the start until that is
# before its end; its exit status in $code
cut_short() {
	local signal=$1 file=$2 try
	shift 2
	for try in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf "$(dirname "$file")"
		"$@" &
		pid=$!
		wait_for "$file" $pid
		kill -"$signal" $pid 2>/dev/null || true
		code=0
		wait $pid 2>/dev/null || code=$?
		[ $code = 0 ] || [ -e "$(dirname "$file")/$last" ] || return 0
	done
	fail "$try times the run was over before it got SIG$signal"
}
start() { # OUT SAVE-EVERY
	exec "$trainer" --gpu "$RX580" --steps $steps --save-every "$2" --eval-every 100 --seed 3 --out "$TMP/$1" >"$TMP/$1.txt" 2>&1
}
cut_short KILL "$TMP/killed/step-00000006" start killed 6
run killed --resume || fail "resume: $(cat "$TMP/killed.txt")"
expect "killed with kill -9 and resumed" "$whole" "$(weights "$TMP/killed/$last")"
expect "no half checkpoint is left" "" "$(find "$TMP/killed" -name '.tmp*')"

for signal in INT TERM; do
	cut_short $signal "$TMP/$signal/log.jsonl" start $signal 100
	expect "exit status after SIG$signal" $((128 + $(kill -l $signal))) $code
	expect "checkpoints after SIG$signal" 1 "$(find "$TMP/$signal" -name model.safetensors | wc -l)"
	run $signal --resume
	expect "stopped by SIG$signal and resumed" "$whole" "$(weights "$TMP/$signal/$last")"
done

sample() { "$trainer" sample --gpu "$RX580" --checkpoint "$TMP/first" --prompt "The work" --tokens 6 "$@"; }
expect "text of one seed" "$(sample --seed 5)" "$(sample --seed 5)"
expect "text begins with the prompt" "The work" "$(sample | head -c 8)"
expect "the mount is tidy after sampling" "" "$(leftovers)"

"$PYTHON" - "$TMP/first/$last" <<'PY'
import json, sys
import numpy as np

def tensors(path):
    with open(path, "rb") as f:
        head = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = f.read()
    meta = head.pop("__metadata__")
    assert max(t["data_offsets"][1] for t in head.values()) == len(data)
    return meta, {k: np.frombuffer(data[slice(*t["data_offsets"])], "<f4").reshape(t["shape"]) for k, t in head.items()}

meta, model = tensors(sys.argv[1] + "/model.safetensors")
_, moments = tensors(sys.argv[1] + "/optimizer.safetensors")
config = json.load(open(sys.argv[1] + "/config.json"))
assert meta["step"] == "24", meta
assert model["wte.weight"].shape == (config["vocab_size"], config["n_embd"])
assert sum(t.size for t in model.values()) == 136960 and all(np.isfinite(t).all() for t in model.values())
assert set(moments) == {f"optimizer.{m}.{k}" for m in "mv" for k in model}
assert all((moments[f"optimizer.v.{k}"] >= 0).all() and moments[f"optimizer.m.{k}"].any() for k in model)
assert len(json.load(open(sys.argv[1] + "/vocab.json"))) == config["vocab_size"]
print(f"ok: {len(model)} tensors read by a reader of its own")
PY
finish
