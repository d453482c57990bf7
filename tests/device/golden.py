# ===- golden.py - The tiny model on a GPU ---------------------------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# Every golden prompt gives exactly its ids, with graphs and without, and both give the same bits, also with scratch memory
# poisoned. In f32, logits and states are held against the CPU plan. In bf16 they are printed and not judged: both
# targets round at the same places but add in another order, a rounding that flips an expert changes every later token,
# and two low-precision runs are no measure of each other.
#
# ===----------------------------------------------------------------------===#
import json
import os
import struct
import subprocess
import sys

import numpy as np

K3, MODEL, PLANS, WORK = sys.argv[1:5]
F32_LIMIT = 1e-4
failures = 0


def check(what, ok, detail=""):
    global failures
    failures += not ok
    print(f"{'ok  ' if ok else 'FAIL'} {what} {detail}", flush=True)


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    types = {"F32": np.float32, "I32": np.int32}
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], types[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def run(plan, ids, new, name, *options, **environment):
    dump = os.path.join(WORK, name + ".safetensors")
    command = [K3, "run", os.path.join(PLANS, plan + ".k3plan"), "--weights", MODEL, "--prompt-ids", ",".join(map(str, ids))]
    command += ["--max-new-tokens", str(new), "--print-ids", "--ignore-eos", "--dump", dump, *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        check(f"{plan} {name}", False, done.stderr.strip().splitlines()[-1])
        return None
    return read(dump)


def distance(a, b):
    return float(np.linalg.norm(a.astype(np.float64) - b) / max(np.linalg.norm(b.astype(np.float64)), 1e-30))


def compare(dtype, number, case):
    prompt, answer = case["prompt_ids"], case["greedy_ids"]
    what = f"{dtype} prompt {number}"
    cpu = run("cpu-" + dtype, prompt, len(answer), f"cpu-{dtype}")
    gpu = run("gpu-" + dtype, prompt, len(answer), f"gpu-{dtype}")
    if cpu is None or gpu is None:
        return
    check(f"{what}: golden ids", list(gpu["ids"]) == prompt + answer)
    if list(gpu["ids"]) == list(cpu["ids"]):
        worst = max((distance(gpu[name], cpu[name]), name) for name in cpu if name != "ids")
        logits = distance(gpu["logits"], cpu["logits"])
        judged = dtype == "f32"
        check(f"{what}: logits and states against the CPU{'' if judged else ' (not judged)'}",
              not judged or max(logits, worst[0]) < F32_LIMIT, f"{logits:.2e}, worst state {worst[0]:.2e} {worst[1]}")
    streams = run("gpu-" + dtype, prompt, len(answer), f"streams-{dtype}", "--no-graphs")
    poisoned = run("gpu-" + dtype, prompt, len(answer), f"poisoned-{dtype}", K3_POISON="1")
    for name, other in (("graphs are streams", streams), ("poisoned scratch", poisoned)):
        same = other is not None and all(np.array_equal(gpu[key], other[key]) for key in gpu)
        check(f"{what}: {name}, to the bit", same)


with open(os.path.join(MODEL, "golden.json")) as file:
    cases = json.load(file)
for dtype in ("bf16", "f32"):
    for number, case in enumerate(cases):
        compare(dtype, number, case)
print(f"{failures} failures")
sys.exit(failures > 0)
