"""Fusion changes the kernels and not one bit of the result, also where a product meets a sum across two ops."""
import struct
import numpy as np
from common import *

os.makedirs(WORK, exist_ok=True)


def write(path, tensors):
    head, at, parts = {}, 0, []
    for name, a in tensors.items():
        head[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        parts.append(a.tobytes()); at += a.nbytes
    text = json.dumps(head).encode()
    with open(path, "wb") as f: f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


rng = np.random.default_rng(1)
inputs = os.path.join(WORK, "in.safetensors")
write(inputs, {name: rng.normal(size=(64, 40)).astype("<f4") for name in "xgy"})
results, kernels = [], []
for flags in ([], ["--no-fuse", "row"]):
    plan, out = os.path.join(WORK, f"p{len(flags)}.k3plan"), os.path.join(WORK, f"out{len(flags)}.safetensors")
    compile_to(plan, os.path.join(ROOT, "tests/tools/Inputs/gate-add.mlir"), *flags)
    kernels.append(len(json.loads(run("k3", "inspect", "--json", plan).stdout)["kernels"]))
    r = run("k3", "run", plan, "--entry", "f", "--inputs", inputs, "--dump", out)
    check(f"runs with {flags or 'every fusion'}", r.returncode == 0, r.stderr[-200:] if r.returncode else "")
    with open(out, "rb") as f: results.append(f.read())
check("fusion makes one kernel of two", kernels == [1, 2], str(kernels))
check("the results are equal bit for bit", results[0] == results[1])
finish()
