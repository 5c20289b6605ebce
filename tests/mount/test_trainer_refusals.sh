#!/usr/bin/env bash
# What trainer says and does when something is wrong: precise words, its exit status, nothing left behind.
set -e
card=virtual,vram=512
# shellcheck source=tests/mount/trainer_lib.sh
. "$(dirname "$0")/trainer_lib.sh"
train() { status "$trainer" --gpu "$RX580" --steps 4 --eval-every 100 "$@"; }

mkdir "$TMP/plain"
expect "a folder that is no mount: status" 1 "$(status "$trainer" --gpu "$TMP/plain" --out "$TMP/x")"
expect_text "a folder that is no mount: words" "not a mount of rx580fs" "$TMP/out"
expect "no text: status" 1 "$(train --data "$TMP/plain" --out "$TMP/x")"
expect_text "no text: words" "no UTF-8 text in" "$TMP/out"
expect "no kernels: status" 1 "$(train --kernels "$TMP/plain" --out "$TMP/x")"
expect_text "no kernels: words" "cannot read kernel .*matmul.co" "$TMP/out"
expect "bad option: status" 2 "$(train --steps none)"

# VRAM all but full: buffers of half the size again and again until not even one MiB is free
for ((mib = 256; mib; mib /= 2)); do
	for ((n = 0;; n++)); do
		truncate -s ${mib}M "$RX580/buffers/hog.$mib.$n" 2>"$TMP/out" || break
	done
	expect_text "$n buffers of $mib MiB, then" "No space left" "$TMP/out"
	rm -f "$RX580/buffers/hog.$mib.$n"
done
expect "full VRAM: status" 1 "$(train --out "$TMP/x")"
expect_text "full VRAM: words" "MiB of VRAM for buffers/trainer" "$TMP/out"
rm "$RX580"/buffers/hog.*
expect "full VRAM: nothing is left" "" "$(leftovers)"

expect "a good run: status" 0 "$(train --out "$TMP/good")"
step=$TMP/good/step-00000004
expect "an old run without --resume: status" 1 "$(train --out "$TMP/good")"
expect_text "an old run without --resume: words" "go on with --resume" "$TMP/out"
head -c 5000 /usr/share/common-licenses/BSD >"$TMP/text"
expect "other text: status" 1 "$(train --resume --out "$TMP/good" --data "$TMP/text")"
expect_text "other text: words" "is other text than" "$TMP/out"
printf x | dd of="$step/optimizer.safetensors" bs=1 seek=5000 conv=notrunc status=none
expect "a damaged checkpoint: status" 1 "$(train --steps 6 --resume --out "$TMP/good")"
expect_text "a damaged checkpoint: words" "optimizer.safetensors: its checksum is not the one" "$TMP/out"
truncate -s -1 "$step/model.safetensors"
expect "a truncated checkpoint: status" 1 "$(status "$trainer" sample --gpu "$RX580" --checkpoint "$step")"
expect_text "a truncated checkpoint: words" "model.safetensors has [0-9]+ bytes, trainer.json says" "$TMP/out"
expect "nothing is left" "" "$(leftovers)"

# Nowhere to write to
mkdir "$TMP/disk"
if mount -t tmpfs -o size=400k none "$TMP/disk" 2>/dev/null; then
	expect "full disk: status" 1 "$(train --save-every 2 --out "$TMP/disk/full")"
	expect_text "full disk: words" "checkpoint FAILED: cannot write to .*step-00000004: No space left" "$TMP/out"
	expect "full disk: left" log.jsonl "$(ls -A "$TMP/disk/full")"
	umount "$TMP/disk"
else
	echo "note: no right to mount a small disk, its part is left out"
fi
expect "full log: status" 1 "$(train --out "$TMP/fulllog" --log /dev/full)"
expect_text "full log: words" "log FAILED: .*No space left" "$TMP/out"
expect "full output of a sample: status" 1 "$("$trainer" sample --gpu "$RX580" --checkpoint "$TMP/fulllog" --tokens 1 >/dev/full 2>&1; echo $?)"
expect "full output of a plan: status" 1 "$("$trainer" plan train >/dev/full 2>&1; echo $?)"

# A lying safetensors straight into the mount
printf '\x40\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,8]}}          ' >"$TMP/lie"
cp "$TMP/lie" "$RX580/checkpoints/lie.safetensors" 2>"$TMP/out" && fail "the mount took a lying safetensors"
expect_text "a lying safetensors: words of the log" 'lie: .*shape and data_offsets disagree' "$RX580/log"

# A second trainer, then a loss that is not finite
"$trainer" --gpu "$RX580" --steps 20000 --save-every 5 --eval-every 10000 --out "$TMP/nan" >"$TMP/nan.txt" 2>&1 &
pid=$!
until [ -e "$TMP/nan/step-00000005" ]; do
	kill -0 $pid || fail "$(cat "$TMP/nan.txt")"
	sleep 0.05
done
expect "a second trainer: status" 4 "$(train --out "$TMP/x")"
expect_text "a second trainer: words" "another program runs plan trainer-train" "$TMP/out"
expect "sampling meanwhile: status" 4 "$(status "$trainer" sample --gpu "$RX580" --checkpoint "$TMP/nan/step-00000005")"
expect_text "sampling meanwhile: words" "trainer-train is running|the snapshot area holds" "$TMP/out"
expect "sampling meanwhile: nothing of it is left" "" "$(leftovers | grep sampler)"
offset=$(($(stat -c %s "$RX580/buffers/trainer.params") / 4 - 128)) # ln_f.weight is the last but one tensor of 64
printf '\0\0\xc0\x7f' >"$TMP/nan.bin"
while kill -0 $pid 2>/dev/null; do # again and again: the card may be writing the same line back from its cache
	dd if="$TMP/nan.bin" of="$RX580/buffers/trainer.params" bs=4 seek=$offset conv=notrunc status=none 2>/dev/null || true
	sleep 0.02
done
code=0
wait $pid || code=$?
expect "a loss that is not finite: status" 5 $code
expect_text "a loss that is not finite: words" "step [0-9]+: (loss|gradient norm) not finite" "$TMP/nan.txt"
expect_text "a loss that is not finite: what to do" "go on with --resume from .*/nan/step-[0-9]+" "$TMP/nan.txt"
expect "after it everything works: status" 0 "$(train --out "$TMP/after")"
finish
