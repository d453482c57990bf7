#!/usr/bin/env bash
# Sourced by demo.sh and test.sh: installs the Debian packages that are missing, and nothing else. Works as root or with
# sudo on Debian 12; says what it does before it does it.
set -euo pipefail

K3_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
K3_BUILD_PACKAGES=(g++ cmake ninja-build ccache pkg-config
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools lld-22
  flatbuffers-compiler libflatbuffers-dev libcli11-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libpcre2-dev
  libssl-dev libxxhash-dev)
K3_TEST_PACKAGES=(libgtest-dev libgmock-dev python3 python3-numpy binutils)

say() { printf '\n== %s\n' "$*"; }

k3_install() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all ${#} Debian packages are installed"
    return
  fi
  local sudo=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { echo "setup: packages are missing (${missing[*]}) and neither root nor sudo is at hand; install them and run again" >&2; exit 1; }
    sudo=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

k3_configure() {
  say "configuring build/release"
  (cd "$K3_ROOT" && cmake --preset release >/dev/null)
}
