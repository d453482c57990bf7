# ===- ops_streams.py - Tests of contractions of bf16 numbers -------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# Projections and experts on bf16 numbers, which GPUs multiply on their tensor cores. The inputs are exact in bf16 and the
# results f32, so that only the order of a sum is left to differ.
#
# ===----------------------------------------------------------------------===#
import k3_reference as ref
import numpy as np
from measure import rows_apart

LIMIT = 2e-6


def bf16(values):
    """The nearest bf16 numbers, as f32."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def wide(values):
    return values.astype(np.float64)


def check(report, what, got, want):
    report.bound(what, rows_apart(got, want).max(), LIMIT)


def swiglu(p):
    gate, up = np.split(p, 2, axis=1)
    return gate * ref.sigmoid(gate) * up


def few_rows(run, report):
    streams(run, report, 64)


def streams(run, report, most=130):
    rng = np.random.default_rng(31)
    x_of = lambda *shape: bf16(rng.normal(size=shape))
    for tokens in (n for n in (1, 3, 8, 9, 16, 17, 64, 127, 130) if n <= most):
        x, w, r = x_of(tokens, 400), x_of(72, 344), np.float32(rng.normal(size=(tokens, 72)))
        got = run("linear", {"x": x, "w": w, "r": r})["y"]
        check(report, f"linear of {tokens} rows", got, wide(x)[:, 56:] @ wide(w).T + r)
        x, w = x_of(tokens, 24), x_of(5, 24)
        check(report, f"short linear of {tokens} rows", run("short", {"x": x, "w": w})["y"], wide(x) @ wide(w).T)
        x, w = x_of(tokens, 120), x_of(102, 40)
        rows = [wide(x)[:, h * 40 : h * 40 + 40] @ wide(w)[h * 34 + 6 : h * 34 + 34].T for h in range(3)]
        got = run("heads", {"x": x, "w": w})["y"]
        check(report, f"a projection a head of {tokens} rows", got, np.concatenate(rows, 1))

        x, w = x_of(tokens, 400), bf16(0.05 * rng.normal(size=(112, 400)))
        check(report, f"gate and up of {tokens} rows", run("halves", {"x": x, "w": w})["y"], swiglu(wide(x) @ wide(w).T))

    x, w = x_of(5, 4608), bf16(0.02 * rng.normal(size=(80, 4608)))
    check(report, "gate and up, long", run("gated", {"x": x, "w": w})["y"], swiglu(wide(x) @ wide(w).T))
    x, w = x_of(100, 72), x_of(200, 72)
    check(report, "a hundred rows", run("hundred", {"x": x, "w": w})["y"], wide(x) @ wide(w).T)

    # Every code; scales from the smallest that keeps a product normal to some that no bf16 factor of one step holds.
    gate_up, down = rng.integers(0, 256, (4, 128, 48), np.uint8), rng.integers(0, 256, (4, 40, 80), np.uint8)
    gate_up.reshape(-1)[:256], down.reshape(-1)[:256] = np.arange(256), np.arange(256)
    scale, down_scale = rng.integers(118, 124, (4, 128, 3), np.uint8), rng.integers(96, 134, (4, 40, 5), np.uint8)
    down_scale[1, 3], down_scale[2, 5] = 1, 190
    plain, plain_up = x_of(4, 40, 160), bf16(0.3 * rng.normal(size=(4, 144, 96)))
    c = dict(hidden_act="situ", activation_situ_beta=4.0, activation_situ_linear_beta=25.0)
    # With 130 tokens one expert has more rows than a tile, one a single row and one none.
    for tokens in (n for n in (1, 7, 64, 130) if n <= most):
        ids = rng.integers(0, 4, (tokens, 3)).astype(np.int32)
        if tokens == 130:
            ids = np.where(ids == 2, 3, np.where(ids == 1, 0, ids)).astype(np.int32)
        ids[0] = 3, 1, 3
        z, x = x_of(tokens, 96), x_of(tokens, 480)
        got = run("packed", {"z": z, "ids": ids, "gate_up": gate_up, "scale": scale})["y"].reshape(tokens, 3, 64)
        got_down = run("packed_down", {"x": x, "ids": ids, "down": down, "scale": down_scale})["y"].reshape(tokens, 3, 40)
        got_plain = run("plain_down", {"x": x, "ids": ids, "down": plain})["y"].reshape(tokens, 3, 40)
        got_plain_up = run("plain_up", {"z": z, "ids": ids, "gate_up": plain_up})["y"].reshape(tokens, 3, 72)
        for j in range(3):
            part = wide(x)[:, j * 160 : j * 160 + 160]
            up = [ref.mxfp4_dequantise(gate_up[e], scale[e]).astype(np.float64) for e in ids[:, j]]
            both = np.stack([m @ row for m, row in zip(up, wide(z))])
            check(report, f"{tokens} rows, choice {j}: gate and up", got[:, j], ref.glu(c, both[:, :64], both[:, 64:]))
            lower = [ref.mxfp4_dequantise(down[e], down_scale[e]).astype(np.float64) for e in ids[:, j]]
            want = np.stack([m @ row for m, row in zip(lower, part)])
            error = np.abs(got_down[:, j] - want) / np.stack([np.abs(m) @ np.abs(row) for m, row in zip(lower, part)])
            report.bound(f"{tokens} rows, choice {j}: down, each number", error.max(), 1e-6)
            both = np.stack([wide(plain_up[e]) @ row for e, row in zip(ids[:, j], wide(z))])
            want = ref.glu(c, both[:, :72], both[:, 72:])
            check(report, f"{tokens} rows, choice {j}: plain gate and up", got_plain_up[:, j], want)
            want = np.stack([wide(plain[e]) @ row for e, row in zip(ids[:, j], part)])
            check(report, f"{tokens} rows, choice {j}: plain down", got_plain[:, j], want)
