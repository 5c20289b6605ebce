#!/usr/bin/env bash
# The tiny model on the mount against PyTorch's stored numbers: weights, gradients, AdamW, 20 losses.
set -e
needs="python:numpy"
# shellcheck source=tests/mount/trainer_lib.sh
. "$(dirname "$0")/trainer_lib.sh"
"$PYTHON" "$here/trainer_step.py" "$RX580" "$trainer" "$BUILD/kernels" "$here/../golden/pytorch_tiny.json"
finish
