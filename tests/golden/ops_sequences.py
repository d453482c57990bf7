# ===- ops_sequences.py - Tests of the ops that keep a state --------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# Recurrence, convolution and attention over packed sequences. Slots and cache cells without a sequence hold poison: the
# results must not show it, and it must still be there afterwards.
#
# ===----------------------------------------------------------------------===#
import k3_reference as ref
import numpy as np
from batches import POISON, Batch, same_bits
from measure import apart, rows_apart

LIMIT = 1e-5
# With bf16 operands and results: rows, states, both for keys that nearly agree, and rows of attention, whose scores are
# sums of rounded products that an exponential follows.
HALF_ROWS, HALF_STATE, HALF_NEAR, HALF_ATTENTION = 8e-3, 5e-3, 3e-2, 1.2e-2
# Lengths of one step with their slots: empty, short, around the chunk of 16 and the page of 64, and padding.
PACKED = dict(lengths=(1, 0, 15, 130, 16, 17, 5, 64, 63), slots=(3, 7, 0, 8, 2, -1, 6, 1, 4))


def f32(values):
    return np.asarray(values, np.float32)


def check_pool(report, what, batch, before, after, want, limit=LIMIT):
    """States of the sequences are near `want`, all others as they were."""
    worst = 0
    for i, slot in enumerate(batch.slots):
        if slot >= 0:
            worst = max(worst, apart(after[slot], want[i]))
    report.bound(f"{what}: states", worst, limit)
    idle = [s for s in range(len(before)) if s not in batch.slots or 0 == batch.lengths[batch.slots.index(s)]]
    report.check(f"{what}: other slots untouched", all(same_bits(before[s], after[s]) for s in idle))


def check_rows(report, what, batch, got, want, limit=LIMIT):
    """Rows of sequences are near `want`; rows of padding are zero. With bf16 operands all rows of a sequence are measured
    as one: a row that is the small difference of large ones has their rounding."""
    worst = 0
    for i, slot in enumerate(batch.slots):
        rows = got[batch.rows(i)]
        if slot < 0:
            report.check(f"{what}: padding gives zeros", not rows.any() and np.isfinite(rows).all())
        elif len(rows):
            worst = max(worst, rows_apart(rows, want[i]).max() if limit == LIMIT else apart(rows, want[i]))
    report.bound(f"{what}: rows", worst, limit)


# --------------------------------------------------------------------------------------------------------- KDA
def kda_inputs(rng, tokens, heads, key, value, a_log):
    return {
        "q": f32(rng.normal(size=(tokens, heads * key))),
        "k": f32(rng.normal(size=(tokens, heads * key))),
        "v": f32(rng.normal(size=(tokens, heads * value))),
        "gate": f32(2 * rng.normal(size=(tokens, heads * key))),
        "beta": f32(2 * rng.normal(size=(tokens, heads))),
        # More entries than heads are padding, and not zero.
        "a_log": f32(rng.uniform(-0.7, 0.7, a_log)),
        "dt_bias": f32(rng.uniform(-3, 1, heads * key)),
    }


def kda_expected(given, rows, heads, lower, state):
    """Token by token in float64: outputs and the state afterwards."""
    wide = {name: np.asarray(value, np.float64) for name, value in given.items()}

    def part(name):
        value = wide[name][rows]
        return value.reshape(len(value), heads, value.shape[1] // heads)

    q, k, v, raw = part("q"), part("k"), part("v"), part("gate")
    decay = ref.kda_log_decay(raw, wide["a_log"], wide["dt_bias"], lower)
    q = ref.l2n(q) * q.shape[2] ** -0.5
    o, state = ref.kda_recurrent(q, ref.l2n(k), v, decay, ref.sigmoid(wide["beta"][rows]), state.astype(np.float64))
    return o.reshape(len(o), heads * v.shape[2]), state


def kda_case(run, report, what, entry, batch, given, heads, lower, state_name, key, value, turned=False, limits=(LIMIT, LIMIT)):
    rng = np.random.default_rng(22)
    pool = batch.pool(rng, (heads, key, value))
    stored = pool.swapaxes(2, 3) if turned else pool
    out = run(entry, given | batch.fields() | {state_name: stored})
    after = out[state_name].swapaxes(2, 3) if turned else out[state_name]
    want = [kda_expected(given, batch.rows(i), heads, lower, pool[max(slot, 0)]) for i, slot in enumerate(batch.slots)]
    check_rows(report, what, batch, out["o"], [o for o, _ in want], limits[0])
    check_pool(report, what, batch, pool, after, [state for _, state in want], limits[1])


def near_keys(rng, tokens, heads, key, cosine):
    """Keys whose cosine with each other is about `cosine`."""
    base, noise = rng.normal(size=(1, heads, key)), rng.normal(size=(tokens, heads, key))
    base /= np.linalg.norm(base, axis=-1, keepdims=True)
    noise -= (noise * base).sum(-1, keepdims=True) * base
    noise /= np.linalg.norm(noise, axis=-1, keepdims=True)
    return f32((np.sqrt(cosine) * base + np.sqrt(1 - cosine) * noise).reshape(tokens, -1))


def kda(run, report):
    shapes = {
        "bounded": (3, 16, 24, 5, -5.0, "state", False),
        "value_first": (3, 16, 24, 5, None, "turned", True),
        "softplus": (3, 32, 8, 3, None, "wide", False),
    }
    for entry, (heads, key, value, a_log, lower, state, turned) in shapes.items():
        rng = np.random.default_rng(21)
        place = dict(heads=heads, lower=lower, state_name=state, key=key, value=value, turned=turned)
        batch = Batch(**PACKED)
        given = kda_inputs(rng, batch.tokens, heads, key, value, a_log)
        kda_case(run, report, f"kda {entry}, packed", entry, batch, given, **place)
        for length in (1, 2, 15, 16, 17, 33, 63, 64, 65, 130):
            one = Batch([length], [2])
            given = kda_inputs(rng, length, heads, key, value, a_log)
            kda_case(run, report, f"kda {entry}, {length} tokens", entry, one, given, **place)
        given = kda_inputs(rng, batch.tokens, heads, key, value, a_log)
        given["gate"] = f32(np.where(rng.random(given["gate"].shape) < 0.5, 30, -30))
        kda_case(run, report, f"kda {entry}, saturated gates", entry, batch, given, **place)
        for sign in (30, -30):
            given["gate"] = np.full_like(given["gate"], sign)
            kda_case(run, report, f"kda {entry}, all gates {sign}", entry, batch, given, **place)
        # The inverse of the chunk has entries of both signs up to one here; powers of its factor go up to 1e5.
        given["k"] = near_keys(rng, batch.tokens, heads, key, 0.99)
        given["beta"] = np.full_like(given["beta"], 12)
        kda_case(run, report, f"kda {entry}, keys of cosine 0.99, no decay, beta 1", entry, batch, given, **place)
        # Keys so small that the eps of their norm counts.
        given = kda_inputs(rng, batch.tokens, heads, key, value, a_log)
        given["q"] *= 1e-3
        given["k"] *= 1e-3
        kda_case(run, report, f"kda {entry}, tiny q and k", entry, batch, given, **place)
        # A key of zero changes nothing; a slow decay, or nothing would be left of the state to compare.
        given["k"][:], given["gate"][:] = 0, -6
        kda_case(run, report, f"kda {entry}, keys of zero", entry, batch, given, **place)

    rng = np.random.default_rng(23)
    batch = Batch([1, 1, 1, 1], [5, -1, 0, 8])
    place = dict(heads=3, lower=-5.0, state_name="state", key=16, value=24)
    given = kda_inputs(rng, 4, 3, 16, 24, 5)
    kda_case(run, report, "kda step", "step", batch, given, **place)
    for sign in (30, -30):
        given["gate"] = np.full_like(given["gate"], sign)
        kda_case(run, report, f"kda step, all gates {sign}", "step", batch, given, **place)
    decode_chain(run, report, rng, batch)


def decode_chain(run, report, rng, batch):
    """Convolutions, recurrence, gated norm: the kernel of a decode step."""
    given = kda_inputs(rng, 4, 3, 16, 24, 5)
    extra = {f"{n}_taps": f32(0.5 * rng.normal(size=(72 if n == "v" else 48, 4))) for n in "qkv"}
    extra |= {"out_gate": f32(rng.normal(size=(4, 72))), "gain": f32(1 + 0.2 * rng.normal(size=24))}
    pool = batch.pool(rng, (3, 16, 24))
    convs = {f"conv_{n}": batch.pool(rng, (3, 72 if n == "v" else 48)) for n in "qkv"}
    out = run("chain", given | extra | batch.fields() | convs | {"state": pool})
    rows, states = [], []
    for i, slot in enumerate(batch.slots):
        one = {name: value[i : i + 1] if name not in ("a_log", "dt_bias") else value for name, value in given.items()}
        shifted = {}
        for n in "qkv":
            y, shifted[n] = conv_expected(one[n], extra[f"{n}_taps"], convs[f"conv_{n}"][slot])
            one[n] = y
            if slot >= 0:
                report.check(f"decode chain: conv_{n} of row {i}", same_bits(out[f"conv_{n}"][slot], shifted[n]))
        o, state = kda_expected(one, slice(None), 3, -5.0, pool[slot])
        gate = ref.sigmoid(extra["out_gate"][i].astype(np.float64).reshape(3, 24))
        rows.append((ref.norm(o.reshape(3, 24), extra["gain"].astype(np.float64), 1e-5) * gate).reshape(1, 72))
        states.append(state)
    check_rows(report, "decode chain", batch, out["o"], rows)
    check_pool(report, "decode chain", batch, pool, out["state"], states)


# -------------------------------------------------------------------------------------------------------- conv
def conv_expected(x, taps, state):
    """Rows after SiLU, and the last inputs, in float64 and as they are."""
    width = taps.shape[1]
    whole = np.concatenate([state, x])
    wide = whole.astype(np.float64)
    y = ref.silu(sum(wide[i : i + len(x)] * taps[:, i].astype(np.float64) for i in range(width)))
    return y, whole[len(x) :]


def conv(run, report):
    rng = np.random.default_rng(31)
    for entry, state, history in (("taps4", "four", 3), ("taps3", "three", 2)):
        plain = [Batch([n], [4]) for n in (1, 2, 3, 4, 130)]
        for batch in [Batch(**PACKED), Batch((2, 1, 3, 1, 2), (1, 0, -1, 5, 8)), *plain]:
            what = f"short_conv {entry}, lengths {batch.lengths}"
            x, taps = f32(rng.normal(size=(batch.tokens, 40))), f32(rng.normal(size=(40, history + 1)))
            pool = batch.pool(rng, (history, 40))
            out = run(entry, {"x": x, "taps": taps, state: pool} | batch.fields())
            want = [conv_expected(x[batch.rows(i)], taps, pool[max(s, 0)]) for i, s in enumerate(batch.slots)]
            check_rows(report, what, batch, out["y"], [y for y, _ in want])
            check_pool(report, what, batch, pool, out[state], [rows for _, rows in want])
            exact = all(s < 0 or same_bits(out[state][s], want[i][1]) for i, s in enumerate(batch.slots))
            report.check(f"{what}: the state is a copy of the inputs", exact)


def conv_answer(run, report, case):
    """The written example of one channel, in one piece and in two."""
    x, taps = f32(case["x"])[:, None], f32([case["w_oldest_first"]])
    for first in (6, 4, 1):
        pool, got = np.zeros((9, 3, 1), np.float32), []
        for part in (x[:first], x[first:]):
            if len(part):
                out = run("channel", {"x": part, "taps": taps, "one": pool} | Batch([len(part)], [2]).fields())
                pool, got = out["one"], [*got, *out["y"][:, 0]]
            if len(part) == 1:
                same = pool[2, :, 0].tolist() == case["state_after_1_token" if len(got) == 1 else "state_after_all"]
                report.check("short_conv: the written state after a piece of 1 token", same)
        error = np.abs(np.array(got) - case["y"]).max()
        report.bound(f"short_conv: the written answer, {first} tokens first", error, 2e-6)
        report.check("short_conv: the written state", pool[2, :, 0].tolist() == case["state_after_all"])


# --------------------------------------------------------------------------------------------------------- MLA
MLA = (3, 16, 6, 14, 20)


def mla_case(run, report, what, entry, batch, sizes=MLA, limit=LIMIT, rounded=f32):
    heads, nope, rope, value, latent = sizes
    rng = np.random.default_rng(41)
    tokens = batch.tokens
    given = {
        "q": f32(3 * rng.normal(size=(tokens, heads * (nope + rope)))),
        "kv": f32(rng.normal(size=(tokens, latent + rope))),
        "gain": f32(1 + 0.2 * rng.normal(size=latent)),
        "kv_b": f32(0.3 * rng.normal(size=(heads * (nope + value), latent))),
    }
    # Latents so small that the eps of their norm counts.
    given["kv"][::5, :latent] *= 1e-3
    given = {name: rounded(numbers) for name, numbers in given.items()}
    cache = np.full((batch.pages, 64, latent + rope), POISON, np.float32)
    earlier = [rounded(rng.normal(size=(n, latent + rope))) for n in batch.before]
    for i, rows in enumerate(earlier):
        if batch.slots[i] >= 0:
            cache[batch.cells(i, len(rows))] = rows
    out = run(entry, given | batch.fields() | {"cache": cache})

    wide = {name: number.astype(np.float64) for name, number in given.items()}
    w = wide["kv_b"].reshape(heads, nope + value, latent)
    want, expected = [], cache.copy()
    for i, slot in enumerate(batch.slots):
        kv, n = wide["kv"][batch.rows(i)], batch.lengths[i]
        rows = np.concatenate([ref.norm(kv[:, :latent], wide["gain"], 1e-6), kv[:, latent:]], 1)
        rows = np.concatenate([earlier[i].astype(np.float64), rows])
        keys = np.einsum("lr,ndr->lnd", rows[:, :latent], w[:, :nope])
        keys = np.concatenate([keys, np.broadcast_to(rows[:, None, latent:], (len(rows), heads, rope))], -1)
        q = wide["q"][batch.rows(i)].reshape(n, heads, nope + rope)
        seen = np.arange(len(rows))[None] <= (len(rows) - n + np.arange(n))[:, None]
        scores = np.einsum("tnd,lnd->ntl", q, keys) * (nope + rope) ** -0.5
        p = ref.softmax(np.where(seen, scores, -np.inf)) if n else scores
        values = np.einsum("lr,nvr->lnv", rows[:, :latent], w[:, nope:])
        want.append(np.einsum("ntl,lnv->tnv", p, values).reshape(n, heads * value))
        if slot >= 0:
            expected[batch.cells(i, len(rows))] = rows
    check_rows(report, what, batch, out["o"], want, limit)
    touched = ~np.isnan(expected)
    report.bound(f"{what}: cache", rows_apart(out["cache"][touched][None], expected[touched][None]).max(), limit)
    # What was poison before is poison; of its bits, bf16 keeps no more than that.
    idle = out["cache"][~touched]
    exact = rounded is f32
    report.check(f"{what}: other cells untouched", same_bits(idle, cache[~touched]) if exact else np.isnan(idle).all())


def mla(run, report):
    mla_case(run, report, "mla, packed", "ragged", Batch(**PACKED))
    before = (0, 3, 64, 63, 1, 9, 130, 100, 128)
    mla_case(run, report, "mla, packed behind earlier tokens", "ragged", Batch(**PACKED, before=before))
    for length in (1, 2, 63, 64, 65, 130):
        mla_case(run, report, f"mla, {length} tokens", "ragged", Batch([length], [2], seed=length))
    mla_case(run, report, "mla step", "step", Batch([1] * 4, [5, -1, 0, 8], before=(0, 7, 63, 64)))
    mla_case(run, report, "mla step, long", "step", Batch([1] * 4, [5, 2, 0, 8], before=(127, 128, 254, 191)))


# ------------------------------------------------------------------------------------------- half-width operands
def bf16(values):
    """The nearest bf16 numbers, as f32."""
    bits = f32(values).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def halves(run, report):
    """Operands of bf16, which GPUs multiply on their tensor cores."""
    for entry, lower in (("bounded", -5.0), ("softplus", None)):
        rng = np.random.default_rng(61)
        place = dict(heads=3, lower=lower, state_name="state", key=32, value=48)
        for batch in (Batch(**PACKED), *(Batch([n], [2]) for n in (1, 17, 64))):
            given = kda_inputs(rng, batch.tokens, 3, 32, 48, 3)
            given |= {name: bf16(given[name]) for name in ("q", "k", "v", "gate")}
            what = f"kda {entry} in bf16, lengths {batch.lengths}"
            kda_case(run, report, what, entry, batch, given, **place, limits=(HALF_ROWS, HALF_STATE))
            for gate in (30, -30):
                given["gate"] = np.full_like(given["gate"], gate)
                limits = (HALF_NEAR, HALF_NEAR)
                kda_case(run, report, f"{what}, all gates {gate}", entry, batch, given, **place, limits=limits)
            given["k"] = bf16(near_keys(rng, batch.tokens, 3, 32, 0.99))
            kda_case(run, report, f"{what}, keys of cosine 0.99", entry, batch, given, **place, limits=limits)
    before = (0, 3, 64, 63, 1, 9, 130, 100, 128)
    for batch in (Batch(**PACKED), Batch(**PACKED, before=before), *(Batch([n], [2]) for n in (1, 64, 65))):
        what = f"mla in bf16, lengths {batch.lengths}"
        mla_case(run, report, what, "attention", batch, (16, 16, 8, 14, 24), HALF_ATTENTION, bf16)
