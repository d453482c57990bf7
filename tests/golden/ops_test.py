# ===- ops_test.py - Single ops against the float64 reference -------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# ops_test.py BIN WORK FILE[:MACHINE]...: compiles Inputs/FILE.mlir and runs its entries on inputs that a model rarely
# gives: empty sequences, padding, poisoned memory, saturated gates, ties, every code. Right answers come from
# tests/oracle. The machines are those of engine.py.
#
# ===----------------------------------------------------------------------===#
import json
import os
import sys

import engine
import k3_reference as ref
import numpy as np
import ops_sequences
import ops_streams
from measure import rows_apart

with open(os.path.join(engine.SOURCE, "tests", "oracle", "answers.json")) as file:
    ANSWERS = {name: entry["values"] for name, entry in json.load(file).items()}
# One op in f32 on the same input, relative L2 of a row.
LIMIT = 1e-5


def f32(values):
    return np.asarray(values, np.float32)


def check_rows(report, what, got, want, limit=LIMIT):
    report.bound(what, rows_apart(got, want).max(), limit)


# -------------------------------------------------------------------------------------------------------- rows
def rows(run, report):
    rng = np.random.default_rng(11)
    tiny = ANSWERS["rms_eps"]
    x = f32([tiny["x"], [1, -2, 3, 4], [0, 0, 0, 0], [1e-6, 0, 0, 2e-6], [1e15, 1e14, 0, -1e15]])
    out = run("norms", {"x": x, "gain": f32(np.ones(4))})
    for name, eps, answer in (("eps5", 1e-5, "eps 1e-5"), ("eps6", 1e-6, "eps 1e-6")):
        check_rows(report, f"rms_norm {answer}: the written answer", out[name][:1], [tiny[answer]])
        check_rows(report, f"rms_norm {answer}", out[name], ref.norm(x.astype(np.float64), 1.0, eps))
    for tokens in (1, 3, 64):
        x, gain = f32(rng.normal(size=(tokens, 40))), f32(rng.normal(size=40))
        out = run("norm", {"x": x, "gain": gain})
        check_rows(report, f"rms_norm of {tokens} rows", out["y"], ref.norm(x.astype(np.float64), gain, 1e-5))

    x, gate, gain = f32(rng.normal(size=(7, 72))), f32(10 * rng.normal(size=(7, 72))), f32(rng.normal(size=24))
    x[0] *= 1e-3
    x[1, :24] = 0
    out = run("gated_norm", {"x": x, "gate": gate, "gain": gain})
    x, gate = (value.reshape(21, 24).astype(np.float64) for value in (x, gate))
    check_rows(report, "gated_rms_norm", out["y"].reshape(21, 24), ref.norm(x, gain, 1e-5) * ref.sigmoid(gate))

    situ = ANSWERS["situ_beta4_lin25"]
    pairs = [[float(part.split("=")[1]) for part in key.split(",")] for key in situ]
    gate, up = f32(5 * rng.normal(size=(9, 40))), f32(30 * rng.normal(size=(9, 40)))
    gate[0, : len(pairs)], up[0, : len(pairs)] = np.transpose(pairs)
    gate[1], up[1] = np.linspace(-120, 120, 40), 1000
    out = run("activations", {"gate": gate, "up": up})
    g, u = gate.astype(np.float64), up.astype(np.float64)
    c = dict(hidden_act="situ", activation_situ_beta=4.0, activation_situ_linear_beta=25.0)
    written = np.abs(out["situ"][0, : len(pairs)] - list(situ.values()))
    report.bound("situ: the written answers", (written / (1 + np.abs(list(situ.values())))).max(), 1e-6)
    check_rows(report, "situ", out["situ"], ref.glu(c, g, u), 2e-6)
    is_open = c | dict(activation_situ_linear_beta=None)
    check_rows(report, "situ without linear beta", out["situ_open"], ref.glu(is_open, g, u), 2e-6)
    check_rows(report, "swiglu", out["swiglu"], ref.glu(dict(hidden_act="silu"), g, u), 2e-6)
    check_rows(report, "gate", out["gated"], u * ref.sigmoid(g), 2e-6)

    case = ANSWERS["attnres"]
    a, b, h = (f32([row]) for row in case["sources"])
    out = run("mix4", {"a": a, "b": b, "h": h, "gain": f32(case["norm_w"]), "query": f32([case["proj_w"]])})
    check_rows(report, "attn_res: the written answer", out["y"], [case["out"]], 1e-6)
    for tokens, size in ((1, 1.0), (13, 1.0), (64, 1e-3), (5, 50.0)):
        a, b, h = (f32(size * rng.normal(size=(tokens, 40))) for _ in range(3))
        gain, query = f32(1 + 0.2 * rng.normal(size=40)), f32(2 * rng.normal(size=(1, 40)))
        out = run("mix", {"a": a, "b": b, "h": h, "gain": gain, "query": query})
        w = {"m_norm.weight": gain.astype(np.float64), "m_proj.weight": query.astype(np.float64)}
        for name, blocks in (("zero", []), ("one", [a]), ("two", [a, b])):
            wide = [block.astype(np.float64) for block in blocks]
            want = ref.attn_res(dict(rms_norm_eps=1e-5), w, "m", wide, h.astype(np.float64))
            check_rows(report, f"attn_res over {len(blocks)} blocks, {tokens} rows of size {size}", out[name], want)

    ids, table, wanted = rng.integers(0, 101, 17), f32(rng.normal(size=(101, 40))), np.array([16, 0, 5])
    ids[:2] = 100, 0
    out = run("lookup", {"ids": ids.astype(np.int32), "table": table, "wanted": wanted.astype(np.int32)})
    check_rows(report, "embed, take_rows, linear", out["logits"], table[ids[wanted]].astype(np.float64) @ table.T)


# ----------------------------------------------------------------------------------------------------- experts
def router_config(k, score="sigmoid", renormalise=True, scale=1.0, groups=1, keep=1):
    return dict(
        moe_router_activation_func=score,
        num_experts_per_token=k,
        num_expert_group=groups,
        topk_group=keep,
        moe_renormalize=renormalise,
        routed_scaling_factor=scale,
    )


def check_choice(report, what, ids, weights, c, logits, bias):
    want_ids, want = ref.route(c, logits.astype(np.float64), bias.astype(np.float64))
    report.check(f"{what}: ids", np.array_equal(ids, want_ids), f"got {ids.tolist()}"[:120])
    report.bound(f"{what}: weights", np.abs(weights - want).max() / c["routed_scaling_factor"], 1e-6)


def expert_sum(c, z, ids, weights, matrices):
    """The weighted sum of the chosen experts of each token, matrices being (w1, w3, w2) of each expert."""
    z, matrices = z.astype(np.float64), [[np.asarray(m, np.float64) for m in three] for three in matrices]
    return [sum(w * ref.mlp(c, x, *matrices[e]) for e, w in zip(chosen, row)) for x, chosen, row in zip(z, ids, weights)]


def experts(run, report):
    rng = np.random.default_rng(12)
    case, infinity = ANSWERS["router"], np.inf
    biases = {
        "the written one": f32(case["bias"]),
        "none": f32(np.zeros(6)),
        "-inf for one": f32([0, 0, -infinity, 0, 0, 0]),
        "-inf for all but two": f32([-infinity, 0, -infinity, -infinity, 0, -infinity]),
        "-inf for all": f32([-infinity] * 6),
    }
    logits = f32(3 * rng.normal(size=(20, 6)))
    logits[0], logits[1], logits[2] = case["logits"], 0.5, [40, -40, 40, -40, 100, 100]
    for name, bias in biases.items():
        out = run("sigmoid", {"logits": logits, "bias": bias})
        for k, c in ((2, router_config(2)), (5, router_config(5, scale=2.5)), (1, router_config(1))):
            check_choice(report, f"router, bias {name}, top {k}", out[f"ids{k}"], out[f"w{k}"], c, logits, bias)
            distinct = all(len(set(row)) == k and min(row) >= 0 and max(row) < 6 for row in out[f"ids{k}"].tolist())
            report.check(f"router, bias {name}, top {k}: {k} distinct experts", distinct)
        want = ref.route(router_config(2, renormalise=False), logits.astype(np.float64), bias.astype(np.float64))[1]
        report.bound(f"router, bias {name}, not renormalised", np.abs(out["raw2"] - want).max(), 1e-6)
        if name == "the written one":
            report.check("router: the written top 2", out["ids2"][0].tolist() == case["top2"])
            report.bound("router: the written weights", np.abs(out["w2"][0] - case["weights"]).max(), 1e-6)
            report.check("router: the written top 5 with a tie", out["ids5"][0].tolist() == case["top5_with_a_tie"])
            report.check("router: the written top 1", out["ids1"][0].tolist() == case["top1"])
            report.bound("router: top 1 keeps its score", abs(out["w1"][0, 0] - case["top1_weight"][0]), 1e-6)
    logits, bias = f32(2 * rng.normal(size=(40, 12))), f32(0.3 * rng.normal(size=12))
    out = run("groups", {"logits": logits, "bias": bias})
    for score in ("sigmoid", "softmax"):
        c = router_config(5, score, scale=2.5, groups=4, keep=2)
        check_choice(report, f"router, groups, {score}", out[f"{score}_ids"], out[f"{score}_w"], c, logits, bias)

    # Every code and many scales; a token may choose one expert twice, experts may go unused.
    up, down = rng.integers(0, 256, (5, 64, 32), np.uint8), rng.integers(0, 256, (5, 64, 16), np.uint8)
    up.reshape(-1)[:256], down.reshape(-1)[:256] = np.arange(256), np.arange(256)
    up_scale, down_scale = rng.integers(118, 128, (5, 64, 2), np.uint8), rng.integers(112, 132, (5, 64, 1), np.uint8)
    for tokens in (1, 9, 64):
        z, ids, w = f32(rng.normal(size=(tokens, 64))), rng.integers(0, 5, (tokens, 2)), f32(rng.random((tokens, 2)))
        ids[0] = 4, 0
        given = {"z": z, "ids": ids.astype(np.int32), "weights": w, "gate_up": up, "down": down}
        out = run("mxfp4", given | {"gate_up_scale": up_scale, "down_scale": down_scale})
        codes = [((up[e], up_scale[e]), (down[e], down_scale[e])) for e in range(5)]
        wide = [[ref.mxfp4_dequantise(*matrix) for matrix in expert] for expert in codes]
        c = dict(hidden_act="situ", activation_situ_beta=4.0, activation_situ_linear_beta=25.0)
        matrices = [(both[:32], both[32:], down_e) for both, down_e in wide]
        want = expert_sum(c, z, ids, w, matrices)
        check_rows(report, f"experts, MXFP4, {tokens} tokens", out["y"], want)

        z, ids = f32(rng.normal(size=(tokens, 40))), rng.integers(0, 6, (tokens, 2))
        gate_up, plain = f32(rng.normal(size=(6, 14, 40))), f32(rng.normal(size=(6, 40, 7)))
        out = run("plain", {"z": z, "ids": ids.astype(np.int32), "weights": w, "gate_up": gate_up, "down": plain})
        matrices = [(gate_up[e, :7], gate_up[e, 7:], plain[e]) for e in range(6)]
        want = expert_sum(dict(hidden_act="silu"), z, ids, w, matrices)
        check_rows(report, f"experts, plain, {tokens} tokens", out["y"], want)


def conv(run, report):
    ops_sequences.conv(run, report)
    ops_sequences.conv_answer(run, report, ANSWERS["conv4"])


CASES = {
    "rows": rows,
    "experts": experts,
    "conv": conv,
    "kda": ops_sequences.kda,
    "mla": ops_sequences.mla,
    "halves": ops_sequences.halves,
    "streams": ops_streams.streams,
    "few_rows": ops_streams.few_rows,
}
# Weights of the others are f32, which no tensor core multiplies exactly.
HALF_WIDTH = {"halves", "streams", "few_rows"}
# Cases that compile the file of another one with a smaller bound.
BOUNDED = {"few_rows": ("streams", "@T <= 130", "@T <= 64")}


def source_of(tools, name):
    file, old, new = BOUNDED.get(name, (name, "", ""))
    path = os.path.join(engine.HERE, "Inputs", file + ".mlir")
    if name not in BOUNDED:
        return path
    with open(path) as plain:
        text = plain.read()
    assert old in text, f"{path} has no {old}"
    with open(tools.path(name + ".mlir"), "w") as bounded:
        bounded.write(text.replace(old, new))
    return tools.path(name + ".mlir")


def main():
    bin_dir, work, *names = sys.argv[1:]
    report = engine.Report()
    for case in names:
        name, _, machine = case.partition(":")
        tools = engine.Engine(bin_dir, os.path.join(work, "ops-" + case.replace(":", "-")), machine or "cpu")
        plan = tools.compile(source_of(tools, name), name, "bf16" if name in HALF_WIDTH else "f32")
        CASES[name](lambda entry, inputs: tools.entry(plan, entry, inputs), report)
    report.finish()


main()
