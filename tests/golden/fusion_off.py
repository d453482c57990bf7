# ===- fusion_off.py - Fusion changes the text and not the result ---------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# fusion_off.py BIN WORK f32|bf16: compiles k3-tiny with every fusion rule and with rules left out. The kernels differ;
# logits and every state do not, to the bit, whole, in pieces and token by token. No number of a reference is needed.
#
# ===----------------------------------------------------------------------===#
import json
import os
import sys

import engine
import numpy as np

MODEL = os.path.join(engine.SOURCE, "examples", "k3-tiny")
RULES = ("scan", "tail", "row")


def bits(value):
    """Compared as integers: -0 is not 0, and a NaN equals itself."""
    return np.ascontiguousarray(value).view(np.int32)


def main():
    bin_dir, work, dtype = sys.argv[1:]
    tools, report = engine.Engine(bin_dir, os.path.join(work, f"fusion-{dtype}")), engine.Report()
    with open(os.path.join(MODEL, "golden.json")) as file:
        golden = json.load(file)
    case = max(golden, key=lambda c: len(c["prompt_ids"] + c["greedy_ids"]))
    ids = (case["prompt_ids"] + case["greedy_ids"])[:-1]
    # (what, ids fed at once, pieces, generated)
    ways = (("whole", ids, None, 1), ("pieces of 7", ids, 7, 1), ("decode", ids[:3], None, len(ids) - 2))

    def build(name, rules):
        flags = [flag for rule in rules for flag in ("--no-fuse", rule)]
        plan = tools.compile(MODEL, name, dtype, "--max-logit-rows", 128, *flags)
        text = tools.call([tools.k3, "inspect", plan, "--json"]).stdout
        told = json.loads(text)
        for rule in RULES:
            report.check(f"{name}: flags name {rule} or not", (f"--no-fuse {rule}" in text) == (rule in rules))
        dumps = [tools.run(plan, MODEL, given, new=new, chunk=chunk) for _, given, chunk, new in ways]
        return sorted(kernel["name"] for kernel in told["kernels"]), dumps

    kernels, expected = build("default", ())
    for rules in ((), ("scan",), ("tail",), ("row",), RULES):
        name = "no " + " ".join(rules) if rules else "again"
        found, dumps = build(name.replace(" ", "-"), rules)
        report.check(f"{name}: other kernels", (found != kernels) == bool(rules))
        for (way, *_), dump, want in zip(ways, dumps, expected):
            report.check(f"{name}, {way}: the same names", list(dump) == list(want))
            for key in want:
                same = dump[key].shape == want[key].shape and np.array_equal(bits(dump[key]), bits(want[key]))
                if not same:
                    apart = np.abs(dump[key].astype(np.float64) - want[key]).max()
                    report.check(f"{name}, {way}: {key}", False, f"differs by up to {apart:.1e}")
            report.check(f"{name}, {way}: {len(want)} tensors compared", len(want) > 8)
    report.finish()


main()
