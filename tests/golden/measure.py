# ===- measure.py - The reference, its margins, and distances from it -----===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# Evaluates the float64 reference on the ids that an engine was fed, in the names of the engine's dump, and measures how
# far a dump is from it. A layer can also be evaluated alone, on the engine's own input and with its choice of experts.
#
# ===----------------------------------------------------------------------===#
import contextlib

import engine  # noqa: F401  (sets the path of the reference)
import numpy as np
import oracle
import k3_reference as ref

PER_TOKEN = ("logits", "h", "latent_cache")
AT_END = ("kda_state", "conv_state.q", "conv_state.k", "conv_state.v")
NAMES = {"S": "kda_state", "latent": "latent_cache"} | {"conv_" + n: "conv_state." + n for n in "qkv"}


def kind_of(name):
    """`layers.3.conv_state.q` -> `conv_state.q`"""
    return name.split(".", 2)[2] if name.startswith("layers.") else name


def evaluate(folder, ids, mode, dtype="float64"):
    """Logits, h and states of the reference after `ids`, under the names of a dump."""
    c, w = oracle.open_model(folder, dtype)
    try:
        states = oracle.states(c, w, list(ids), mode)
    finally:
        ref.use_bf16(False)
    out = {}
    for name, value in states.items():
        if name != "logits":
            layer, field = name.split(".")
            name = f"layers.{layer[5:]}.{NAMES.get(field, field)}"
        out[name] = value
    return out


def rows_apart(got, want):
    """Relative L2 distance of every row."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, f"shapes {got.shape} and {want.shape}"
    scale = np.linalg.norm(want, axis=-1)
    gap = np.linalg.norm(got - want, axis=-1)
    gap = np.where(np.isfinite(gap), gap, np.inf)
    # A row of zeros (before the first token) must be exactly zero.
    return np.where(scale > 0, gap / np.where(scale > 0, scale, 1), np.where(gap > 0, np.inf, 0))


def apart(got, want):
    """Relative L2 distance of two whole tensors."""
    return float(rows_apart(np.ravel(got), np.ravel(want)))


def distances(got, want):
    """kind -> distances: a row each for what has a row a token, a tensor each for the states at the end."""
    out = {}
    for name, value in want.items():
        kind = kind_of(name)
        assert name in got, f"the dump lacks {name}"
        found = rows_apart(got[name], value) if kind in PER_TOKEN else [apart(got[name], value)]
        out.setdefault(kind, []).extend(found)
    return {kind: np.asarray(values) for kind, values in out.items()}


def first_deviation(got, want, limit):
    """Where a dump first leaves the reference, in the order in which the model computes."""
    names = sorted((n for n in want if n != "logits"), key=lambda n: (int(n.split(".")[1]), kind_of(n) == "h"))
    for name in [*names, "logits"]:
        if kind_of(name) in PER_TOKEN:
            rows = rows_apart(got[name], want[name])
            bad = np.nonzero(rows > limit)[0]
            if len(bad):
                return f"{name} at token {bad[0]}: {rows[bad[0]]:.1e}, largest {rows.max():.1e}"
        elif apart(got[name], want[name]) > limit:
            return f"{name}: {apart(got[name], want[name]):.1e}"
    return "none"


# ---------------------------------------------------------------------------------------------------- routing
@contextlib.contextmanager
def routing(route):
    """Replaces the router of the reference for a while."""
    plain = ref.route
    ref.route = lambda c, logits, bias: route(plain, c, logits, bias)
    try:
        yield
    finally:
        ref.route = plain


def margin(c, logits, bias):
    """The smallest difference between a chosen expert (or group) and the best one left out, over all tokens."""
    s = ref.softmax(logits) if c["moe_router_activation_func"] == "softmax" else ref.sigmoid(logits)
    b, groups, keep, smallest = s + bias, c["num_expert_group"], c["topk_group"], np.inf
    if groups > 1 and groups > keep:
        pairs = np.sort(b.reshape(len(b), groups, -1), -1)[..., -2:].sum(-1)
        order = np.sort(pairs, -1)[:, ::-1]
        smallest = (order[:, keep - 1] - order[:, keep]).min()
        kept = pairs >= order[:, keep - 1 : keep]
        b = np.where(np.repeat(kept, b.shape[1] // groups, 1), b, -np.inf)
    order = np.sort(b, -1)[:, ::-1]
    k = c["num_experts_per_token"]
    return min(smallest, (order[:, k - 1] - order[:, k]).min()) if k < b.shape[1] else smallest


def smallest_margin(folder, ids):
    """Over all tokens and layers of a run of the float64 reference."""
    found = [np.inf]

    def record(plain, c, logits, bias):
        found.append(margin(c, logits, bias))
        return plain(c, logits, bias)

    with routing(record):
        evaluate(folder, ids, "prefill")
    return min(found)


# ------------------------------------------------------------------------------------------- one layer at a time
def layer_alone(c, w, i, h, blocks, experts):
    """Running sum after layer i and its states, from the running sum before it, the finished blocks, and the experts
    that the engine chose (ids [T, k], any order)."""

    def forced(plain, c, logits, bias):
        s = ref.softmax(logits) if c["moe_router_activation_func"] == "softmax" else ref.sigmoid(logits)
        weights = np.take_along_axis(s, experts, -1)
        if c["num_experts_per_token"] > 1 and c["moe_renormalize"]:
            weights = weights / (weights.sum(-1, keepdims=True) + 1e-20)
        return experts, weights * c["routed_scaling_factor"]

    p, state, eps, size = f"model.layers.{i}.", {}, c["rms_norm_eps"], c["attn_res_block_size"]
    x = ref.attn_res(c, w, p + "self_attention_res", blocks, h) if size and blocks else h
    push = bool(size) and i % size == 0
    if push:
        blocks = blocks + [h]
    attention = ref.kda_layer if ref.is_kda(c, i) else ref.mla_layer
    a = attention(c, w, p + "self_attn.", ref.rms(x, w[p + "input_layernorm.weight"], eps), state, "prefill")
    h = a if push else h + a
    x = ref.attn_res(c, w, p + "mlp_res", blocks, h) if size else h
    x = ref.rms(x, w[p + "post_attention_layernorm.weight"], eps)
    if ref.is_moe(c, i):
        with routing(forced):
            f = ref.moe(c, w, p + "block_sparse_moe.", x)
    else:
        f = ref.mlp(c, x, *(w[f"{p}mlp.{n}_proj.weight"] for n in ("gate", "up", "down")))
    return h + f, {NAMES[name]: value for name, value in state.items()}


def layers_apart(folder, dump):
    """For every layer: how far its h (a row a token) and its states are from the float64 layer that is fed with the
    engine's own h, block sums and experts, and how far the reference is when it rounds to bf16 on the same input.
    Yields (name, distances, distances of the reference)."""
    c, w = oracle.open_model(folder, "float64")
    ids = dump["ids"][: len(dump["logits"])]
    before = w["model.embed_tokens.weight"][ids]
    blocks, size = [], c["attn_res_block_size"]
    for i in range(c["num_hidden_layers"]):
        experts = dump[f"layers.{i}.experts"].astype(np.int64) if ref.is_moe(c, i) else None
        exact = layer_alone(c, w, i, before, blocks, experts)
        ref.use_bf16(True)
        try:
            rounded = layer_alone(c, w, i, before, blocks, experts)
        finally:
            ref.use_bf16(False)
        if size and i % size == 0:
            blocks = blocks + [before]
        before = dump[f"layers.{i}.h"].astype(np.float64)
        got = {kind: dump[f"layers.{i}.{kind}"] for kind in exact[1]} | {"h": before}
        own = rounded[1] | {"h": ref.to_bf16(rounded[0])}
        for kind, value in (exact[1] | {"h": exact[0]}).items():
            rows = rows_apart if kind in PER_TOKEN else lambda a, b: np.array([apart(a, b)])
            yield f"layers.{i}.{kind}", rows(got[kind], value), rows(own[kind], value)
