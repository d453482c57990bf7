# ===- choose_seeds.py - Picks the seeds in configs.py --------------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# choose_seeds.py [MODEL...]: run by hand when a model of configs.py changes. Prints the first seed with which all choices
# of experts keep their distance and a float32 run stays near float64; no engine is asked.
#
# ===----------------------------------------------------------------------===#
import sys
import tempfile

import configs
import measure
import oracle

MARGIN, LARGEST = 6e-5, 2.5e-4


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


for model in sys.argv[1:] or configs.CONFIGS:
    choose_seed(model)
