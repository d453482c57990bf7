#!/usr/bin/env bash
# Decode speed of a model in the shape of the 0.40B configuration (random bf16 weights, 0.8 GB, written once to build/)
# beside the read bandwidth of this machine. Nothing else should run. Prints one table.
source "$(dirname "$0")/setup.sh"
cd "$K3_ROOT"
k3_install "${K3_BUILD_PACKAGES[@]}" python3 python3-numpy
k3_configure
cmake --build build/release --target k3c k3 cpu_mma_bench >/dev/null
bin=build/release/bin model=build/bench-0.40b

[[ -f $model/config.json ]] || /usr/bin/python3 tests/oracle/oracle.py random tests/data/configs/kimi-k3-0.40b/config.json "$model" --seed 3
$bin/k3c "$model" -o build/bench-0.40b.k3plan --target cpu 2>/dev/null
say "read bandwidth and matrix-vector products"
$bin/cpu_mma_bench
say "decode, five runs of 100 tokens"
for _ in 1 2 3 4 5; do
  $bin/k3 run build/bench-0.40b.k3plan --weights "$model" --prompt-ids 1,5,9,22,31 --max-new-tokens 100 --ignore-eos \
    --print-ids 2>&1 >/dev/null | grep -E '^(decode|peak)'
done
