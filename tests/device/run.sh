#!/bin/sh
# The tests that need a GPU, in one command:
#   tests/device/run.sh BIN WORK [PLANS]
# BIN holds k3 (and k3c, unless PLANS holds the plans already: cpu-bf16, cpu-f32, gpu-bf16, gpu-f32, each .k3plan).
# WORK gets the dumps. PYTHON names an interpreter with numpy.
set -eu
bin=$1 work=$2 plans=${3:-$2}
here=$(cd "$(dirname "$0")" && pwd)
model=$here/../../examples/k3-tiny
mkdir -p "$work"
if [ ! -e "$plans/gpu-bf16.k3plan" ]; then
  for dtype in bf16 f32; do
    "$bin/k3c" "$model" --dtype $dtype --target cpu -o "$plans/cpu-$dtype.k3plan"
    "$bin/k3c" "$model" --dtype $dtype --target sm_90a -o "$plans/gpu-$dtype.k3plan"
  done
fi
exec "${PYTHON:-python3}" "$here/golden.py" "$bin/k3" "$model" "$plans" "$work"
