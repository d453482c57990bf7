# ===- random_test.py - Random models against the float64 reference -------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# random_test.py BIN WORK MODEL f32|bf16: writes the checkpoint of a model of configs.py, compiles it, feeds it prompts of
# many lengths in pieces of many sizes, and compares logits and every state with the reference. README.md has the rules.
#
# ===----------------------------------------------------------------------===#
import os
import sys

import configs
import engine
import measure
import numpy as np

LENGTHS = (1, 2, 15, 16, 17, 63, 64, 65, 130)
PIECES = (1, 7, 16, 64)
MARGIN = 3e-5
# The reference's own float32 run can be exact where an engine is off by the last bit.
FLOOR = 2e-7
# What a layer of the reference may lose by its own rounding to bf16, for a prompt to be used; the rule is 3e-2.
ROUNDING = 2.5e-2


def f32(run, folder, name, report):
    prompt = configs.prompt(name)
    # (what, fed ids, mode of the reference, dump), grouped by the way of feeding
    groups = {"whole": [], **{f"pieces of {n}": [] for n in PIECES}, "decode": []}
    for length in LENGTHS:
        groups["whole"].append((prompt[:length], "prefill", run(prompt[:length])))
    for piece in PIECES:
        groups[f"pieces of {piece}"].append((prompt, str(piece), run(prompt, chunk=piece)))
    margin = measure.smallest_margin(folder, prompt)
    for given in (1, 17):
        dump = run(prompt[:given], new=configs.LENGTH - given + 1)
        ids = [int(i) for i in dump["ids"][:-1]]
        margin = min(margin, measure.smallest_margin(folder, ids))
        groups["decode"].append((ids, "decode", dump))
    report.check("margin", margin >= MARGIN, f"smallest top-k margin {margin:.1e} (at least {MARGIN:.0e})")

    for way, runs in groups.items():
        engine_apart, own_apart = {}, {}
        for ids, mode, dump in runs:
            exact = measure.evaluate(folder, ids, "prefill")
            own = measure.distances(measure.evaluate(folder, ids, mode, "float32"), exact)
            found = measure.distances(dump, exact)
            largest = max(d.max() for d in found.values())
            if largest > 1e-3:
                where = measure.first_deviation(dump, exact, 1e-5)
                report.check(f"{way}, {len(ids)} tokens", False, f"first deviation: {where}")
            for kind in found:
                engine_apart.setdefault(kind, []).append(found[kind])
                own_apart.setdefault(kind, []).append(own[kind])
        for kind in engine_apart:
            mine, own = np.concatenate(engine_apart[kind]), np.concatenate(own_apart[kind])
            report.bound(f"{way}: {kind}, largest of {len(mine)}", mine.max(), 1e-3)
            limit = min(max(4 * np.median(own), FLOOR), 1e-4)
            report.bound(f"{way}: {kind}, median of {len(mine)}", np.median(mine), limit)


def quiet_run(run, folder, name, report, mode, given, chunk):
    """The first run on whose own inputs no layer of the reference loses more than ROUNDING when it rounds to bf16 itself,
    and its layers. Where a head's output nearly cancels, its norm blows rounding up with nothing wrong."""
    first = configs.CONFIGS[name][3]
    for which in [*first, *(n for n in range(1, 40) if n not in first)]:
        dump = run(configs.prompt(name, which)[:given], new=configs.LENGTH - given + 1, chunk=chunk)
        layers = list(measure.layers_apart(folder, dump))
        loudest, own = max(((part, own.max()) for part, _, own in layers), key=lambda pair: pair[1])
        if own < ROUNDING:
            return dump, layers
        print(f"      {mode}: not prompt {which}, where the reference itself is off by {own:.1e} in {loudest}")
    report.check(f"{mode}: a prompt without near cancellation", False)
    return dump, layers


def bf16(run, folder, name, report):
    mine, own = [], []
    # (mode of the reference, ids given, size of the pieces, are layers looked at alone)
    ways = [
        ("prefill", configs.LENGTH, None, True),
        ("7", configs.LENGTH, 7, True),
        ("decode", configs.GIVEN, None, True),
        ("64", configs.LENGTH, 64, False),
        ("1", configs.LENGTH, 1, False),
    ]
    for mode, given, chunk, alone in ways:
        if alone:
            dump, layers = quiet_run(run, folder, name, report, mode, given, chunk)
        else:
            dump, layers = run(configs.prompt(name)[:given], chunk=chunk), []
        ids = [int(i) for i in dump["ids"][:-1]]
        exact = measure.evaluate(folder, ids, "prefill")["logits"]
        mine.append(measure.rows_apart(dump["logits"], exact))
        own.append(measure.rows_apart(measure.evaluate(folder, ids, mode, "bf16")["logits"], exact))
        for part, distance, usual in layers:
            what = f"{mode}: {part} alone"
            report.bound(f"{what}, largest", distance.max(), 3e-2)
            if len(distance) > 1:
                report.bound(f"{what}, median", np.median(distance), 1.5 * np.median(usual))
    mine, own = np.concatenate(mine), np.concatenate(own)
    for what, q in (("median", 50), ("90th percentile", 90)):
        limit = 1.5 * np.percentile(own, q)
        report.bound(f"logits of {len(mine)} positions, {what}", np.percentile(mine, q), limit)


def main():
    bin_dir, work, name, dtype, *machine = sys.argv[1:]
    tools = engine.Engine(bin_dir, os.path.join(work, "-".join([name, dtype, *machine])), *machine)
    report = engine.Report()
    folder = configs.write(tools.path("checkpoint"), name)
    plan = tools.compile(folder, "model", dtype, *configs.COMPILE)

    def run(ids, **options):
        return tools.run(plan, folder, ids, **options)

    {"f32": f32, "bf16": bf16}[dtype](run, folder, name, report)
    report.finish()


main()
