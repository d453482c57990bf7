"""Small right answers in plain Python floats, computed from the formulas of docs/model.md independently of
k3_reference.py (which oracle.py selftest checks against them).  Run: python3 answers.py > answers.json
Each entry is {"what": one line, "values": ...}."""
import json, math, struct

def sig(x): return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
def silu(x): return x * sig(x)
def softplus(x): return max(x, 0) + math.log1p(math.exp(-abs(x)))
def situ(g, u, b=4.0, lb=25.0): return b * math.tanh(g / b) * sig(g) * (lb * math.tanh(u / lb))
def bounded(x, A_log, dt, lb=-5.0): return lb * sig(math.exp(A_log) * (x + dt))
def unbounded(x, A_log, dt): return -math.exp(A_log) * softplus(x + dt)
def l2(a, eps=1e-6): return [i / math.sqrt(sum(j * j for j in a) + eps) for i in a]
def rms(z, eps): return [i / math.sqrt(sum(j * j for j in z) / len(z) + eps) for i in z]
def e2m1(n): return (-1.0 if n & 8 else 1.0) * [0, .5, 1, 1.5, 2, 3, 4, 6][n & 7]
def e8m0(s): return 2.0 ** (s - 127)
def bf16(f):
    u = struct.unpack("<I", struct.pack("<f", f))[0]
    u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000
    return struct.unpack("<f", struct.pack("<I", u))[0]

def kda_case():
    """One head, 2 key channels, 3 value channels, 5 tokens."""
    K, V = 2, 3
    q = [[.6, -.2], [.1, .9], [-.4, .3], [.8, .8], [.2, -.7]]
    k = [[.5, .1], [.2, -.3], [.7, .7], [-.6, .4], [.1, .2]]
    v = [[1, 0, -1], [.5, .25, 2], [-1, 1, 0], [.3, -.2, .1], [2, -1, .5]]
    x = [[0.0, 1.0], [-2.0, .5], [1.5, -1.0], [.2, .2], [-3.0, 3.0]]
    b = [0.0, 1.0, -1.0, 2.0, .5]
    A_log, dt = .3, [.1, -.2]
    def run(t0, t1, S=None, gate=bounded):
        S, out = [r[:] for r in S] if S else [[0.0] * V for _ in range(K)], []
        for t in range(t0, t1):
            qq, kk, bb = l2(q[t]), l2(k[t]), sig(b[t])
            for i in range(K):
                decay = math.exp(gate(x[t][i], A_log, dt[i]))
                S[i] = [s * decay for s in S[i]]
            new = [bb * (v[t][j] - sum(S[i][j] * kk[i] for i in range(K))) for j in range(V)]
            for i in range(K): S[i] = [S[i][j] + kk[i] * new[j] for j in range(V)]
            out.append([sum(S[i][j] * qq[i] for i in range(K)) * K ** -.5 for j in range(V)])
        return out, S
    out, S = run(0, 5)
    first, S3 = run(0, 3)
    rest, S5 = run(3, 5, S3)
    assert first + rest == out and S5 == S
    return {"inputs": {"q": q, "k": k, "v": v, "gate_raw": x, "beta_raw": b, "A_log": A_log, "dt_bias": dt, "lower_bound": -5.0,
                       "l2norm": "x / sqrt(sum x^2 + 1e-6)", "scale": "K^-0.5"},
            "out": out, "final_state_[K][V]": S, "state_after_3_[K][V]": S3, "out_softplus_gate": run(0, 5, None, unbounded)[0],
            "wrong_out_t3_t4_if_the_state_is_lost_before_t3": run(3, 5)[0],
            "wrong_out_t2_if_token_2_is_processed_twice": run(2, 3, S3)[0]}

def conv_case():
    w, xs = [.1, -.2, .3, .4], [1, 2, 3, 4, 5, 6]
    def conv(xs, state=(0, 0, 0)):
        h = list(state) + list(xs)
        return [silu(sum(w[i] * h[t + i] for i in range(4))) for t in range(len(xs))], h[-3:]
    y, state = conv(xs)
    y1, s1 = conv(xs[:4])
    assert y1 + conv(xs[4:], s1)[0] == y
    return {"w_oldest_first": w, "x": xs, "y": y, "state_after_all": state, "state_after_1_token": conv(xs[:1])[1]}

def router_case():
    lg, bias = [2.0, 1.0, 0.0, -1.0, 0.5, 0.5], [-.5, 0, .4, .9, 0, 0]
    s = [sig(i) for i in lg]
    c = [a + d for a, d in zip(s, bias)]
    top = lambda c, n: sorted(range(len(c)), key=lambda i: (-c[i], i))[:n]
    two = top(c, 2)
    return {"logits": lg, "bias": bias, "choice": c, "top2": two, "weights": [s[i] / (sum(s[j] for j in two) + 1e-20) for i in two],
            "wrong_weights_if_the_bias_leaks": [c[i] / sum(c[j] for j in two) for i in two],
            "wrong_top2_if_the_bias_is_ignored": top(s, 2), "top5_with_a_tie": top(c, 5),
            "top1": top(c, 1), "top1_weight": [s[i] for i in top(c, 1)]}

def attnres_case():
    vals, nw, pw, eps = [[1, 0, 0, 0], [0, 2, 0, 0], [1, 1, 1, 1]], [1, .5, 1, 2], [.4, -.3, .2, .1], 1e-5
    sc = [sum(i * a * d for i, a, d in zip(rms(r, eps), nw, pw)) for r in vals]
    e = [math.exp(i - max(sc)) for i in sc]
    p = [i / sum(e) for i in e]
    return {"sources": vals, "norm_w": nw, "proj_w": pw, "eps": eps, "scores": sc, "probs": p,
            "out": [sum(p[i] * vals[i][j] for i in range(3)) for j in range(4)],
            "finished_blocks_seen_by_the_attention_site": {f"layer {i}": -(-i // 12) for i in (0, 1, 11, 12, 13, 48, 92)},
            "finished_blocks_at_the_end_of_93_layers": -(-93 // 12)}

def sizes_case():
    MLA, KDA, H, D, ROW = 24, 69, 96, 128, 512 + 64
    state = lambda tp, ssm=4, conv=2: KDA * (H // tp * D * D * ssm + 3 * 3 * H * D // tp * conv)
    return {"kv_bytes_per_token_bf16": MLA * ROW * 2, "kv_bytes_per_token_fp8": MLA * ROW,
            "kv_GiB_for_1048576_tokens_bf16": MLA * ROW * 2 * 1048576 / 2 ** 30,
            "state_bytes_per_sequence_and_rank_fp32_state_bf16_conv": {f"tp{t}": state(t) for t in (1, 2, 4, 8, 16, 32)},
            "state_bytes_tp1_bf16_state": state(1, 2), "tokens_whose_kv_equals_one_state": state(1) / (MLA * ROW * 2),
            "attnres_buffer_bytes_per_token_in_flight": 8 * 7168 * 2, "attnres_buffer_GiB_for_1048576_tokens_at_once": 8 * 7168 * 2 * 1048576 / 2 ** 30,
            "expert_params": 3 * 3072 * 3584, "experts_total_params": 92 * 896 * 3 * 3072 * 3584,
            "state_slots_of_one_layer_before_a_32bit_index_overflows_tp8": 2 ** 31 // (12 * 128 * 128),
            "tokens_before_a_32bit_index_overflows_12288_wide": 2 ** 31 // 12288,
            "tokens_before_a_32bit_index_overflows_fused_qkv_36864_wide": 2 ** 31 // 36864}

def tp_case():
    div = lambda n, hi=128, ok=lambda d: True: [d for d in range(1, hi + 1) if n % d == 0 and ok(n // d)]
    return {"96 heads": div(96), "32 heads": div(32), "expert width 3072, rank share a multiple of 32": div(3072, 128, lambda r: r % 32 == 0),
            "latent width 3584, rank share a multiple of 32": div(3584, 128, lambda r: r % 32 == 0),
            "vocabulary 163840": div(163840), "dense width 33792": div(33792), "896 experts (expert parallel)": div(896),
            "heads, expert width, vocabulary and dense width together":
                [d for d in div(96) if 3072 % d == 0 and 3072 // d % 32 == 0 and 163840 % d == 0 and 33792 % d == 0]}

def build():
    R = {}
    def put(name, what, values): R[name] = {"what": what, "values": values}
    put("situ_beta4_lin25", "SiTU-GLU with beta 4 and linear beta 25: both factors saturate, |out| < 100",
        {f"g={g},u={u}": situ(g, u) for g, u in [(0, 5), (1, 1), (-1, 1), (3, -2), (10, 100), (-10, 100), (100, 1000), (-100, 1000)]})
    put("swiglu_same_inputs", "SwiGLU (Kimi Linear) on two of the same inputs: a mixed-up activation shows at once",
        {f"g={g},u={u}": silu(g) * u for g, u in [(1, 1), (10, 100)]})
    put("gate", "KDA log decay, bounded (K3: -5 * sigmoid(exp(A_log) * (x + dt_bias))) and softplus (Kimi Linear), and exp of each",
        [{"x": x, "A_log": a, "dt_bias": d, "bounded": bounded(x, a, d), "decay_bounded": math.exp(bounded(x, a, d)),
          "softplus": unbounded(x, a, d), "decay_softplus": math.exp(unbounded(x, a, d))}
         for x, a, d in [(0, 0, 0), (1, 0, 0), (-4, 1, .5), (2, 2, 0), (-30, 2.7, 0), (30, 2.7, 0)]])
    put("gate_chunk_span_log2", "largest decay span inside a chunk in bits: exp(80) fits fp32, exp(320) does not, so 64-token chunks need 16-token tiles",
        {"C=16,g=-5": 80 / math.log(2), "C=64,g=-5": 320 / math.log(2), "largest_x_with_exp_x_in_fp32": 88.72})
    put("A_log_padding", "K3 stores A_log with 128 floats of which 96 count, one per head: reading it per channel is wrong", {"stored": 128, "used": 96})
    put("kda", "KDA recurrence, one head, key size 2 and value size 3, five tokens: outputs, states, and what two state bugs give", kda_case())
    put("conv4", "depthwise causal convolution of width 4 then SiLU, one channel: the state is the last three inputs, oldest first", conv_case())
    put("mxfp4", "MXFP4 decoding: low nibble is the even column, scale byte s means 2^(s-127), 255 is NaN (report it, never 2^128); sizes of one K3 expert",
        {"byte 0x2F scale 127 -> [even, odd]": [e2m1(15), e2m1(2)], "byte 0x71 scale 125 -> [even, odd]": [e2m1(1) * e8m0(125), e2m1(7) * e8m0(125)],
         "byte 0x98 scale 130 -> [even, odd]": [e2m1(8) * e8m0(130), e2m1(9) * e8m0(130)], "scale 0": e8m0(0), "scale 254": e8m0(254),
         "all_codes": [e2m1(i) for i in range(16)], "w1_packed_bytes": 3072 * 1792, "w1_scale_bytes": 3072 * 112,
         "w2_packed_bytes": 3584 * 1536, "w2_scale_bytes": 3584 * 96, "expert_bytes": 2 * (3072 * 1792 + 3072 * 112) + 3584 * 1536 + 3584 * 96})
    put("router", "sigmoid router: the bias chooses, the unbiased scores weigh; ties go to the lower id (all-equal scores still give distinct ids); top-1 is not renormalised", router_case())
    put("attnres", "attention-residual mix of three sources with 4 channels; block counts for block size 12", attnres_case())
    z = [1e-3, -2e-3, 3e-3, 0]
    put("rms_eps", "RMSNorm (gain 1) of a tiny vector with both eps values: a wrong eps of the q_a/kv_a norms is visible only on small inputs",
        {"x": z, "eps 1e-5": rms(z, 1e-5), "eps 1e-6": rms(z, 1e-6)})
    put("bf16", "bf16 rounding: a decay above 0.99805 stored in bf16 becomes 1 and never forgets, so gates and state stay fp32",
        {"sigmoid(0.5)": sig(.5), "bf16(sigmoid(0.5))": bf16(sig(.5)), "bf16(0.9995)": bf16(.9995), "bf16(0.998)": bf16(.998),
         "0.9999^4096": .9999 ** 4096, "bf16(0.9999)^4096": bf16(.9999) ** 4096})
    put("sizes_k3", "K3 memory: MLA rows, KDA and conv states, AttnRes buffer, expert sizes, and where 32-bit indices overflow", sizes_case())
    state48 = lambda tp: 20 * (32 // tp * 128 * 128 * 4 + 9 * 32 * 128 // tp * 2)
    put("sizes_48b", "Kimi Linear 48B memory: MLA rows per token, fp32 KDA plus bf16 conv state per sequence",
        {"kv_bytes_per_token_bf16": 7 * 576 * 2, "state_bytes_tp1": state48(1), "state_bytes_tp4": state48(4)})
    put("tp_divisors", "tensor-parallel degrees up to 128 that divide each K3 dimension (32 = MXFP4 group)", tp_case())
    put("merge", "merging attention partials: an empty partial has lse -inf and must not change the result; its out must be 0 or be skipped, since 0 * NaN = NaN",
        {"partial_out": 1.5, "partial_lse": .2, "empty_out": 0.0, "empty_lse": "-inf", "merged": 1.5})
    return R

if __name__ == "__main__":
    print(json.dumps(build(), indent=1))
