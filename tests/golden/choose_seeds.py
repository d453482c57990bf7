# ===- choose_seeds.py - Picks the seeds in configs.py --------------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# choose_seeds.py seeds [MODEL...], choose_seeds.py prompts BIN WORK [MODEL...]: run by hand when a model of configs.py
# changes. Both judge by the reference alone; the second one takes the inputs of its layers from an engine.
#
# ===----------------------------------------------------------------------===#
import os
import sys
import tempfile

import configs
import engine
import measure
import oracle

MARGIN, LARGEST = 6e-5, 2.5e-4
# What a layer of the reference may lose by its own rounding to bf16; the test allows 3e-2.
ROUNDING = 2.6e-2


def judge(name, seed):
    """Smallest distance between a chosen and a left out expert, on the prompt and on the greedy continuations of its first
    tokens; and the largest distance of the float32 run, unless the margin is too small already."""
    with tempfile.TemporaryDirectory() as folder:
        configs.write(folder, name, seed)
        ids = configs.prompt(name, seed=seed)
        margin = measure.smallest_margin(folder, ids)
        c, w = oracle.open_model(folder, "float64")
        for given in (1, 17):
            if margin < MARGIN:
                return margin, None
            new, _ = oracle.generate(c, w, ids[:given], configs.LENGTH - given)
            margin = min(margin, measure.smallest_margin(folder, ids[:given] + new))
        exact = measure.evaluate(folder, ids, "prefill")
        own = measure.distances(measure.evaluate(folder, ids, "decode", "float32"), exact)
        return margin, max(distance.max() for distance in own.values())


def choose_seed(name):
    for seed in range(1, 400):
        margin, largest = judge(name, seed)
        if margin >= MARGIN and largest < LARGEST:
            print(f"{name}: seed {seed}, margin {margin:.1e}, float32 largest {largest:.1e}", flush=True)
            return


def choose_prompts(name, bin_dir, work):
    """Two prompts, the first of them also for decoding, whose layers the reference itself rounds without a near loss."""
    tools = engine.Engine(bin_dir, os.path.join(work, name))
    folder = configs.write(tools.path("checkpoint"), name)
    plan = tools.compile(folder, "model", "bf16", *configs.COMPILE)

    def is_quiet(dump):
        return all(own.max() < ROUNDING for _, _, own in measure.layers_apart(folder, dump))

    first, second = None, None
    for which in range(1, 60):
        prompt = configs.prompt(name, which)
        if (first is None or second is None) and is_quiet(tools.run(plan, folder, prompt)):
            given = configs.GIVEN
            if first is None and is_quiet(tools.run(plan, folder, prompt[:given], new=configs.LENGTH - given + 1)):
                first = which
            elif second is None:
                second = which
    print(f"{name}: prompts {first}, {second}", flush=True)


if sys.argv[1] == "seeds":
    for model in sys.argv[2:] or configs.CONFIGS:
        choose_seed(model)
else:
    for model in sys.argv[4:] or configs.CONFIGS:
        choose_prompts(model, sys.argv[2], sys.argv[3])
