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
# libMLIR and libLLVM are not instrumented: their containers and arenas would be reported as overflows that are none.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0}
ctest --test-dir "build/$preset" --output-on-failure --timeout 1500 --parallel "$(nproc)"
