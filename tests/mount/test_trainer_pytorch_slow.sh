#!/usr/bin/env bash
# PyTorch runs now: every element of every gradient, and the loss of a trained checkpoint on its held-out text.
set -e
needs="python:torch python:numpy"
# shellcheck source=tests/mount/trainer_lib.sh
. "$(dirname "$0")/trainer_lib.sh"
"$PYTHON" "$here/../../scripts/make_goldens.py" --full "$TMP/golden.npz"
"$PYTHON" "$here/trainer_step.py" "$RX580" "$trainer" "$BUILD/kernels" "$TMP/golden.npz"
rm -f "$RX580"/plans/*.json "$RX580"/buffers/*

"$trainer" --gpu "$RX580" --steps 60 --eval-every 60 --out "$TMP/run"
"$PYTHON" "$here/trainer_heldout.py" "$TMP/run/step-00000060" "$TMP/run/log.jsonl" /usr/share/common-licenses
finish
