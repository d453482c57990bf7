#!/usr/bin/env bash
# Every test: the same set-up as demo.sh, a full build, then ctest (unit tests, lit, golden numerics).
#   scripts/test.sh              the release build
#   scripts/test.sh asan         the same suite under the address and undefined sanitizers
#   scripts/test.sh fuzz         60 seconds of each fuzz target (needs clang-22)
source "$(dirname "$0")/setup.sh"
cd "$K3_ROOT"

preset=${1:-release}
packages=("${K3_BUILD_PACKAGES[@]}" "${K3_TEST_PACKAGES[@]}")
[[ $preset == fuzz ]] && packages+=(clang-22 libclang-rt-22-dev)
k3_install "${packages[@]}"
say "configuring build/$preset"
cmake --preset "$preset" >/dev/null
say "building everything"
cmake --build "build/$preset"
say "testing"
ctest --test-dir "build/$preset" --output-on-failure --timeout 1500
