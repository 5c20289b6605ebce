#!/usr/bin/env bash
# PyTorch runs now: every element of every gradient, and the loss of a trained checkpoint on its held-out text.
set -eu
# shellcheck source=tests/mount/trainer_lib.sh
. "$(dirname "$0")/trainer_lib.sh"
python=$(find_python torch) || skip "no python3 with torch"
"$python" "$here/../../scripts/make_goldens.py" --full "$tmp/golden.npz"
"$python" "$here/trainer_step.py" "$RX580" "$trainer" "$build/kernels" "$tmp/golden.npz"
rm -f "$RX580"/plans/*.json "$RX580"/buffers/*

"$trainer" --gpu "$RX580" --steps 60 --eval-every 60 --out "$tmp/run"
"$python" "$here/trainer_heldout.py" "$tmp/run/step-00000060" "$tmp/run/log.jsonl" /usr/share/common-licenses
clean_card
