# ===- run.py - Do the tests see mistakes? --------------------------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# Builds a copy of the sources with every mistake of faults.py in it, runs the golden tests of each with that one switched
# on, and prints which test failed and how. A mistake that no test sees is the failure here.
#
# ===----------------------------------------------------------------------===#
import argparse
import os
import re
import subprocess
import sys

import faults

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


def edit(text, old, new, where):
    """Replaces `old`, whatever its line breaks, where it must occur exactly once."""
    pattern = re.sub(r"(\\?\s)+", r"\\s+", re.escape(" ".join(old.split())))
    pattern = re.sub(r"(\\[(){}\[\],;&|<>?:=*+-]|,)", r"\\s*\1\\s*", pattern)
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        sys.exit(f"{where}: text to replace occurs {len(found)} times, expected once: {' '.join(old.split())}")
    return text[: found[0].start()] + new + text[found[0].end() :]


def patch(root):
    texts = {}
    for name, old, new in faults.SITES:
        if name not in texts:
            with open(os.path.join(root, name)) as file:
                texts[name] = file.read()
        texts[name] = edit(texts[name], old, new, name)
    for name, text in texts.items():
        with open(os.path.join(root, name), "w") as file:
            file.write('#include "tests/faults/fault.h"\n' + text)
    known = set(re.findall(r'fault\("([^"]+)"\)', " ".join(new for _, _, new in faults.SITES)))
    if known != set(faults.FAULTS):
        sys.exit(f"faults.py: sites and table differ in {sorted(known ^ set(faults.FAULTS))}")


def copy_sources(root):
    """The files that git tracks, as they are in the working tree."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, target = os.path.join(SOURCE, name), os.path.join(root, name)
        if not os.path.exists(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(source, "rb") as file:
            data = file.read()
        # Files that stay the same keep their time, so that a second run builds only what changed.
        if name not in {site[0] for site in faults.SITES} and os.path.exists(target):
            with open(target, "rb") as file:
                if file.read() == data:
                    continue
        with open(target, "wb") as file:
            file.write(data)


def command(test, bin_dir, work):
    golden = os.path.join(SOURCE, "tests", "golden")
    if test.startswith("ops_"):
        return [sys.executable, os.path.join(golden, "ops_test.py"), bin_dir, work, test[4:]]
    model, dtype = test.rsplit("_", 1)
    if model == "tiny":
        return [sys.executable, os.path.join(golden, "tiny_test.py"), bin_dir, work, dtype]
    return [sys.executable, os.path.join(golden, "random_test.py"), bin_dir, work, model, dtype]


def outcome(test, fault, bin_dir, work):
    """(failed, how it showed)"""
    done = subprocess.run(
        command(test, bin_dir, os.path.join(work, "tests")),
        capture_output=True,
        text=True,
        env={**os.environ, "K3_FAULT": fault, "OPENBLAS_NUM_THREADS": "1"},
    )
    if done.returncode == 0:
        return False, "passed"
    lines = [line for line in done.stdout.splitlines() if line.startswith("FAIL") and "margin" not in line]
    said = (done.stderr.strip().splitlines() or ["nothing on standard error"])[-1]
    return True, (f"{len(lines)} checks: {lines[0][6:]}" if lines else said)[:150]


def build_tools(root, build):
    subprocess.run(
        ["cmake", "-S", root, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DK3_BUILD_TESTS=OFF"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(["ninja", "-C", build, "k3c", "k3"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(build, "bin")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=os.path.join(SOURCE, "build", "faults"), help="folder of the copy and its build")
    parser.add_argument("--only", nargs="*", help="faults to run, by name; default all")
    parser.add_argument("--bin", help="folder of a k3c and k3 that were built from the patched copy before")
    parser.add_argument("--check-patches", action="store_true", help="only see whether every edit applies")
    options = parser.parse_args()
    root, build = os.path.join(options.work, "source"), os.path.join(options.work, "build")
    copy_sources(root)
    patch(root)
    if options.check_patches:
        return
    bin_dir = options.bin or build_tools(root, build)
    chosen = options.only or list(faults.FAULTS)
    unseen, sound = [], {}
    for test in sorted({test for name in chosen for test in faults.FAULTS[name][1]}):
        failed, how = outcome(test, "", bin_dir, options.work)
        sound[test] = not failed
        print(f"without a fault | {test} | {how}", flush=True)
    for name in chosen:
        what, tests = faults.FAULTS[name]
        seen = False
        for test in tests:
            failed, how = outcome(test, name, bin_dir, options.work)
            seen |= failed and sound[test]
            print(f"{name} | {what} | {test} | {'seen, ' if failed else 'NOT SEEN'}{how if failed else ''}", flush=True)
        if not seen:
            unseen.append(name)
    print(f"{len(chosen) - len(unseen)} of {len(chosen)} faults are seen" + (f"; not: {', '.join(unseen)}" if unseen else ""))
    sys.exit(1 if unseen or not all(sound.values()) else 0)


main()
