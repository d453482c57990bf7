# ===- tiny_test.py - The golden answers of k3-tiny -----------------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# tiny_test.py BIN WORK f32|bf16 [MACHINE]: every prompt of golden.json gives exactly its ids, as text and in pieces of
# every size, and the logits on the way are near the float64 reference. The answers alone survive many mistakes; the logits
# do not. A machine that is emulated gets the prompt with the shortest answer, in fewer pieces: it needs 0.1 s a token.
#
# ===----------------------------------------------------------------------===#
import json
import os
import sys

import engine
import measure
import numpy as np

MODEL = os.path.join(engine.SOURCE, "examples", "k3-tiny")
# Largest and median difference of a logit (rms 2.2), from what rounding costs the reference itself.
LIMITS = {"f32": (2e-4, 2e-5), "bf16": (8.0, 0.5)}


def main():
    bin_dir, work, dtype, *machine = sys.argv[1:]
    tools = engine.Engine(bin_dir, os.path.join(work, "-".join(["tiny", dtype, *machine])), *machine)
    report = engine.Report()
    with open(os.path.join(MODEL, "golden.json")) as file:
        golden = json.load(file)
    pieces = (1, 7, 16, 64, None)
    if machine == ["emulated"]:
        golden, pieces = [min(golden, key=lambda case: len(case["greedy_ids"]))], (7, 64)
    plan = tools.compile(MODEL, "tiny", dtype, "--max-logit-rows", 128)
    differences = []
    for case in golden:
        prompt, answer, text = case["prompt_ids"], case["greedy_ids"], case["prompt"]
        command = [tools.k3, "run", plan, "--weights", MODEL]
        printed = tools.call([*command, "--prompt", text, "--print-ids"]).stdout
        report.check(f"{text!r}: ids", printed == ",".join(map(str, answer)) + "\n", printed.strip())
        printed = tools.call([*command, "--prompt", text]).stdout
        report.check(f"{text!r}: text", printed == case["text"] + "\n", printed.strip())

        fed = prompt + answer[:-1]
        exact = measure.evaluate(MODEL, fed, "prefill")["logits"]
        for chunk in pieces:
            dump = tools.run(plan, MODEL, fed, chunk=chunk)
            best = dump["logits"][len(prompt) - 1 :].argmax(1)
            report.check(f"{text!r}: arg-max in pieces of {chunk or 'all'}", list(best) == answer)
            differences.append(np.abs(dump["logits"] - exact).max(1))
        dump = tools.run(plan, MODEL, prompt, new=len(answer))
        report.check(f"{text!r}: dumped ids", list(dump["ids"]) == prompt + answer)
        differences.append(np.abs(dump["logits"] - exact).max(1))
    differences = np.concatenate(differences)
    largest, median = LIMITS[dtype]
    report.bound(f"logits of {len(differences)} positions, largest difference", differences.max(), largest)
    report.bound(f"logits of {len(differences)} positions, median difference", np.median(differences), median)

    # What is refused is refused with status 2, and says so on standard error only.
    for options in (
        [],
        ["--prompt", "a", "--prompt-ids", "1"],
        ["--prompt-ids", "1,,2"],
        ["--prompt-ids", "512"],
        ["--prompt-ids", "-1"],
        ["--prompt-ids", "1", "--prefill-chunk", "0"],
        ["--entry", "nothing"],
    ):
        done = tools.call([tools.k3, "run", plan, "--weights", MODEL, *options], expect=2)
        report.check(f"refused: {' '.join(options)}", done.stdout == "" and done.stderr != "")
    report.finish()


main()
