#!/usr/bin/env bash
# From a fresh clone to an answer: installs what is missing, builds, compiles the tiny model and asks it a question.
#   scripts/demo.sh [QUESTION]
source "$(dirname "$0")/setup.sh"
cd "$K3_ROOT"

k3_install "${K3_BUILD_PACKAGES[@]}"
k3_configure
say "building k3c and k3 (a few minutes the first time)"
cmake --build build/release --target k3c k3

say "compiling the tiny Kimi K3: checkpoint -> plan"
build/release/bin/k3c examples/k3-tiny -o build/k3-tiny.k3plan --target cpu

question=${1:-What is KDA?}
say "asking: $question"
build/release/bin/k3 run build/k3-tiny.k3plan --weights examples/k3-tiny --prompt "$question"
