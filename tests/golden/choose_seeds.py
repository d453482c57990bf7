# ===- choose_seeds.py - Picks the seeds in configs.py --------------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# Run by hand when a model of configs.py changes: prints, for each, the first seed whose expert choices all keep their
# distance, on the prompt and on the greedy continuations of its first tokens, and whose float32 run shows no jump.
#
# ===----------------------------------------------------------------------===#
import sys
import tempfile

import configs
import measure
import oracle

MARGIN = 6e-5


def judge(name, seed):
    with tempfile.TemporaryDirectory() as folder:
        configs.write(folder, name, seed)
        ids = configs.prompt(name, seed=seed)
        margin = measure.smallest_margin(folder, ids)
        if margin < MARGIN:
            return margin, None
        c, w = oracle.open_model(folder, "float64")
        for given in (1, 17):
            new, _ = oracle.generate(c, w, ids[:given], configs.LENGTH - given)
            margin = min(margin, measure.smallest_margin(folder, ids[:given] + new))
        if margin < MARGIN:
            return margin, None
        exact = measure.evaluate(folder, ids, "prefill")
        worst = max(d.max() for d in measure.distances(measure.evaluate(folder, ids, "decode", "float32"), exact).values())
        return margin, worst


for name in sys.argv[1:] or configs.CONFIGS:
    for seed in range(1, 400):
        margin, worst = judge(name, seed)
        if worst is not None and worst < 2.5e-4:
            print(f"{name}: seed {seed}, margin {margin:.1e}, float32 largest {worst:.1e}", flush=True)
            break
