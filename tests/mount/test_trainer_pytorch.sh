#!/usr/bin/env bash
# The tiny model on the mount against PyTorch's stored numbers: weights, gradients, AdamW, 20 losses.
set -eu
# shellcheck source=tests/mount/trainer_lib.sh
. "$(dirname "$0")/trainer_lib.sh"
python=$(find_python numpy) || skip "no python3 with numpy"
"$python" "$here/trainer_step.py" "$RX580" "$trainer" "$build/kernels" "$here/../golden/pytorch_tiny.json"
clean_card
