"""NumPy reference of the Kimi K3 / Kimi Linear text model (specification: docs/model.md).  numpy only.

T tokens, H hidden, N KDA heads of D channels.  KDA state S is [N, D(key), D(value)].  Matrices are [out, in], named as
in the checkpoint without the `language_model.` prefix; `w` maps names to arrays and shows every expert matrix as a
plain `.weight` (checkpoint.Weights decodes MXFP4).  Arithmetic follows the dtype of the arrays: float64 is the
reference, float32 shows what fp32 costs, and `use_bf16(True)` rounds where a bf16 engine stores bf16.
"""
import numpy as np

# ------------------------------------------------------------------------------------------------ MXFP4 and bf16
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])

def mxfp4_quantise(w):
    """[R, C] -> packed u8 [R, C/2] (low nibble = even column), scale u8 [R, C/32]; OCP MX rounding."""
    R, C = w.shape
    if C % 32: raise ValueError(f"MXFP4 needs a row length that is a multiple of 32, got {C}")
    g = w.reshape(R, C // 32, 32)
    e = np.floor(np.log2(np.maximum(np.abs(g).max(-1), 2.0 ** -120))).astype(int) - 2      # largest E2M1 exponent: 2
    x = np.minimum(np.abs(g) / (2.0 ** e)[..., None], 6.0)
    odd = np.arange(8) % 2                                                     # nearest, ties to the even code
    code = np.argmin(np.abs(x[..., None] - E2M1[:8]) + 1e-12 * odd, -1) | (np.signbit(g).astype(int) << 3)
    code = code.reshape(R, C).astype(np.uint8)
    return code[:, 0::2] | (code[:, 1::2] << 4), (e + 127).astype(np.uint8)

def mxfp4_dequantise(packed, scale):
    code = np.stack([packed & 15, packed >> 4], -1).reshape(len(packed), -1)
    s = np.where(scale == 255, np.nan, 2.0 ** (scale.astype(int) - 127))
    return (E2M1[code].reshape(len(packed), -1, 32) * s[..., None]).reshape(code.shape)

def to_bf16(x):
    """Round to bf16 (nearest, ties to even); the dtype of the array stays."""
    u = np.ascontiguousarray(x, np.float32).view(np.uint32)
    u = (u + 0x7fff + ((u >> 16) & 1)) & np.uint32(0xffff0000)
    return u.view(np.float32).astype(np.asarray(x).dtype)

_bf16 = False
def use_bf16(on):
    global _bf16; _bf16 = on
def rnd(x): return to_bf16(x) if _bf16 else x                                  # a value that an engine stores in bf16

# ------------------------------------------------------------------------------------------------ small pieces
def sigmoid(x): return 0.5 * (1 + np.tanh(0.5 * x))
def softplus(x): return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
def silu(x): return x * sigmoid(x)
def norm(x, w, eps): return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w
def rms(x, w, eps): return rnd(norm(x, w, eps))
def l2n(x): return x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)          # eps on the SUM
def lin(x, w): return rnd(x @ w.T)

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

def glu(c, gate, up):
    if c["hidden_act"] == "silu": return rnd(silu(gate) * up)
    if c["hidden_act"] != "situ": raise ValueError("hidden_act " + c["hidden_act"])
    b, lb = c["activation_situ_beta"] or 1.0, c["activation_situ_linear_beta"]
    return rnd(b * np.tanh(gate / b) * sigmoid(gate) * (lb * np.tanh(up / lb) if lb is not None else up))

def mlp(c, x, gate, up, down): return lin(glu(c, lin(x, gate), lin(x, up)), down)

# ------------------------------------------------------------------------------------------------ KDA core
def kda_log_decay(raw, A_log, dt_bias, lower):
    """raw [T,N,D] = f_b(f_a(x)).  A_log is per head; only its first N entries count (files may pad it)."""
    N = raw.shape[1]
    z, a = raw + dt_bias.reshape(N, -1), np.exp(A_log.reshape(-1)[:N])[:, None]
    return lower * sigmoid(a * z) if lower is not None else -a * softplus(z)

def kda_recurrent(q, k, v, g, beta, S):
    """q, k (normalised, q scaled), g (log decay) [T,N,K]; v [T,N,V]; beta [T,N]; S [N,K,V] -> o [T,N,V], S."""
    o = np.empty_like(v)
    for t in range(len(q)):
        S = S * np.exp(g[t])[:, :, None]                                       # decay first, along the key axis
        err = v[t] - np.einsum("nk,nkv->nv", k[t], S)
        S = S + np.einsum("nk,nv->nkv", k[t] * beta[t][:, None], err)
        o[t] = np.einsum("nk,nkv->nv", q[t], S)                                # reads the updated state
    return o, S

def decay_scores(x, y, G, lower, tile=16):
    """out[i,j] = sum_d x[i,d] y[j,d] exp(G[i,d] - G[j,d]) for j <= i, 0 above the diagonal, built from tile products
    around a reference row, as a tensor-core kernel would do it."""
    C = len(x)
    out = np.zeros((C, C), x.dtype)
    for a in range(0, C, tile):
        xa, ya, Ga = x[a:a + tile], y[a:a + tile], G[a:a + tile]
        for b in range(0, a, tile):                                            # earlier tile: both exponents <= 0
            out[a:a + tile, b:b + tile] = (xa * np.exp(Ga - Ga[0])) @ (y[b:b + tile] * np.exp(Ga[0] - G[b:b + tile])).T
        if lower is not None:                                                  # bounded gate: middle row as reference
            m = Ga[min(tile // 2, len(Ga) - 1)]
            out[a:a + tile, a:a + tile] = (xa * np.exp(Ga - m)) @ (ya * np.exp(m - Ga)).T
        else:                                                                  # unbounded gate: explicit pairs
            dG = np.minimum(Ga[:, None] - Ga[None], 0)
            out[a:a + tile, a:a + tile] = (xa[:, None] * ya[None] * np.exp(dG)).sum(-1)
    return np.tril(out)

def unit_lower_inverse(L, tile=16):
    """(I + L)^-1 for strictly lower L: 16x16 diagonal tiles by (I-L)(I+L^2)(I+L^4)(I+L^8), then block merge."""
    inv = np.zeros_like(L)
    for a in range(0, len(L), tile):
        s = slice(a, min(a + tile, len(L)))
        D = L[s, s]; I = np.eye(len(D), dtype=L.dtype); P2 = D @ D; P4 = P2 @ P2; P8 = P4 @ P4
        inv[s, s] = (I - D) @ (I + P2) @ (I + P4) @ (I + P8)
        if a: inv[s, :a] = -inv[s, s] @ (L[s, :a] @ inv[:a, :a])
    return inv

def kda_chunkwise(q, k, v, g, beta, S, lower, C=64):
    """Same contract as kda_recurrent, C tokens at a time."""
    o, S = np.empty_like(v), S.copy()
    for c0 in range(0, len(q), C):
        sl = slice(c0, min(c0 + C, len(q)))
        for n in range(q.shape[1]):
            Q, K, V, B = q[sl, n], k[sl, n], v[sl, n], beta[sl, n][:, None]
            G = np.cumsum(g[sl, n], 0)                                         # inclusive, restarts with every chunk
            M = unit_lower_inverse(np.tril(B * decay_scores(K, K, G, lower), -1))
            new = M @ (B * (V - (K * np.exp(G)) @ S[n]))
            o[sl, n] = (Q * np.exp(G)) @ S[n] + decay_scores(Q, K, G, lower) @ new
            S[n] = np.exp(G[-1])[:, None] * S[n] + (K * np.exp(G[-1] - G)).T @ new
    return o, S

# ------------------------------------------------------------------------------------------------ layers
def kda_layer(c, w, p, x, st, mode):
    la = c["linear_attn_config"]; N, D, KW, T = la["num_heads"], la["head_dim"], la["short_conv_kernel_size"], len(x)
    y = {}
    for n in "qkv":                                                            # depthwise causal conv + SiLU
        pre = np.concatenate([st.get("conv_" + n, np.zeros((KW - 1, N * D), x.dtype)), lin(x, w[f"{p}{n}_proj.weight"])])
        cw = w[f"{p}{n}_conv1d.weight"].reshape(N * D, KW)                     # cw[:, KW-1] multiplies the current token
        y[n] = rnd(silu(sum(pre[i:i + T] * cw[:, i] for i in range(KW)))).reshape(T, N, D)
        st["conv_" + n] = pre[T:]                                              # last KW-1 rows BEFORE the conv
    raw = lin(lin(x, w[p + "f_a_proj.weight"]), w[p + "f_b_proj.weight"]).reshape(T, N, D)
    g = kda_log_decay(raw, w[p + "A_log"], w[p + "dt_bias"], la.get("gate_lower_bound"))
    beta = sigmoid(x @ w[p + "b_proj.weight"].T)
    S = st.get("S", np.zeros((N, D, D), x.dtype))
    args = l2n(y["q"]) * D ** -0.5, l2n(y["k"]), y["v"], g, beta, S
    o, st["S"] = kda_recurrent(*args) if mode == "decode" else kda_chunkwise(*args, la.get("gate_lower_bound"))
    gate = lin(x, w[p + "g_proj.weight"]) if la.get("use_full_rank_gate") else \
        lin(lin(x, w[p + "g_a_proj.weight"]), w[p + "g_b_proj.weight"])
    o = rnd(norm(rnd(o), w[p + "o_norm.weight"], c["rms_norm_eps"]) * sigmoid(gate.reshape(T, N, D)))
    return lin(o.reshape(T, N * D), w[p + "o_proj.weight"])

def mla_layer(c, w, p, x, st, mode):
    N, dn, dr, dv, R = (c[n] for n in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
                                       "kv_lora_rank"))
    T, eps = len(x), c["mla_norm_eps"]
    if c["q_lora_rank"]:
        q = lin(rms(lin(x, w[p + "q_a_proj.weight"]), w[p + "q_a_layernorm.weight"], eps), w[p + "q_b_proj.weight"])
    else:
        q = lin(x, w[p + "q_proj.weight"])
    q = q.reshape(T, N, dn + dr)
    kv = lin(x, w[p + "kv_a_proj_with_mqa.weight"])
    row = np.concatenate([rms(kv[:, :R], w[p + "kv_a_layernorm.weight"], eps), kv[:, R:]], 1)      # [T, R+dr]
    lat = np.concatenate([st["latent"], row]) if "latent" in st else row; st["latent"] = lat
    L, scale = len(lat), (dn + dr) ** -0.5
    Wb = w[p + "kv_b_proj.weight"].reshape(N, dn + dv, R); Wk, Wv = Wb[:, :dn], Wb[:, dn:]
    seen = np.arange(L)[None] <= (L - T + np.arange(T))[:, None]
    if mode == "decode":                                                       # absorbed: one shared latent "head"
        qa = np.concatenate([rnd(np.einsum("tnd,ndr->tnr", q[..., :dn], Wk)), q[..., dn:]], -1)
        pr = softmax(np.where(seen, np.einsum("tnr,lr->ntl", qa, lat) * scale, -np.inf))
        o = np.einsum("ntr,nvr->tnv", rnd(np.einsum("ntl,lr->ntr", pr, lat[:, :R])), Wv)
    else:                                                                      # NoPE: nothing is ever rotated
        k = np.concatenate([rnd(np.einsum("lr,ndr->lnd", lat[:, :R], Wk)), np.broadcast_to(lat[:, None, R:], (L, N, dr))], -1)
        pr = softmax(np.where(seen, np.einsum("tnd,lnd->ntl", q, k) * scale, -np.inf))
        o = np.einsum("ntl,lnv->tnv", pr, rnd(np.einsum("lr,nvr->lnv", lat[:, :R], Wv)))
    o = rnd(o).reshape(T, N * dv)
    if c["mla_use_output_gate"]: o = rnd(o * sigmoid(lin(x, w[p + "g_proj.weight"])))
    return lin(o, w[p + "o_proj.weight"])

def route(c, logits, bias):
    """router logits [T,E] -> expert ids [T,k] (best first, ties to the lower id), weights [T,k]."""
    s = softmax(logits) if c["moe_router_activation_func"] == "softmax" else sigmoid(logits)
    b, k, G, kg = s + bias, c["num_experts_per_token"], c["num_expert_group"], c["topk_group"]
    if G > 1 and G > kg:                                                       # keep the kg groups with the best pairs
        pair = np.sort(b.reshape(len(b), G, -1), -1)[..., -2:].sum(-1)
        keep = np.zeros(pair.shape, bool)
        np.put_along_axis(keep, np.argsort(-pair, -1, kind="stable")[:, :kg], True, 1)
        b = np.where(np.repeat(keep, b.shape[1] // G, 1), b, -np.inf)
    idx = np.argsort(-b, -1, kind="stable")[:, :k]
    wt = np.take_along_axis(s, idx, -1)                                        # weights WITHOUT the bias
    if k > 1 and c["moe_renormalize"]: wt = wt / (wt.sum(-1, keepdims=True) + 1e-20)
    return idx, wt * c["routed_scaling_factor"]

def moe(c, w, p, x):
    idx, wt = route(c, x @ w[p + "gate.weight"].T, w[p + "gate.e_score_correction_bias"])    # sees the full hidden
    latent = c["routed_expert_hidden_size"] is not None
    z = lin(x, w[p + "routed_expert_down_proj.weight"]) if latent else x
    y = np.zeros_like(z)
    for e in np.unique(idx):
        t, j = np.nonzero(idx == e)
        y[t] += wt[t, j, None] * mlp(c, z[t], *(w[f"{p}experts.{e}.{n}.weight"] for n in ("w1", "w3", "w2")))
    y = rnd(y)
    if latent:                                                                 # norm AFTER the weighted sum
        if c["latent_moe_use_norm"]: y = rms(y, w[p + "routed_expert_norm.weight"], c["rms_norm_eps"])
        y = lin(y, w[p + "routed_expert_up_proj.weight"])
    if c["num_shared_experts"]:
        y = rnd(y + mlp(c, x, *(w[f"{p}shared_experts.{n}_proj.weight"] for n in ("gate", "up", "down"))))
    return y

def attn_res(c, w, name, blocks, h):
    V = np.stack(blocks + [h], 1)                                              # [T, sources, H], raw values
    u = w[name + "_norm.weight"] * w[name + "_proj.weight"].reshape(-1)        # norm gain times pseudo-query
    sc = (V / np.sqrt((V * V).mean(-1, keepdims=True) + c["rms_norm_eps"])) @ u
    return np.einsum("ts,tsh->th", softmax(sc), V)

def is_kda(c, i): return i + 1 in ((c["linear_attn_config"] or {}).get("kda_layers") or ())        # lists are 1-based
def is_moe(c, i): return bool(c["num_experts"]) and i >= c["first_k_dense_replace"] and i % c["moe_layer_freq"] == 0

def forward(c, w, ids, cache=None, mode="prefill", taps=None):
    """Logits [T, vocab].  `cache` (a dict, updated) carries the states between calls: cache[i] holds S, conv_q/k/v of a
    KDA layer or latent of an MLA layer.  mode "prefill": chunkwise KDA and materialised K/V; "decode": recurrent KDA
    and absorbed MLA; both take any number of tokens.  `taps` (a list) receives the running sum after every layer."""
    cache = {} if cache is None else cache
    h, blocks, eps, bs = w["model.embed_tokens.weight"][np.asarray(ids)], [], c["rms_norm_eps"], c["attn_res_block_size"]
    for i in range(c["num_hidden_layers"]):
        p, st = f"model.layers.{i}.", cache.setdefault(i, {})
        x = attn_res(c, w, p + "self_attention_res", blocks, h) if bs and blocks else h
        push = bs and i % bs == 0
        if push: blocks = blocks + [h]                                         # the RAW sum, not the mix
        a = (kda_layer if is_kda(c, i) else mla_layer)(c, w, p + "self_attn.", rms(x, w[p + "input_layernorm.weight"], eps), st, mode)
        h = a if push else rnd(h + a)
        x = rms(attn_res(c, w, p + "mlp_res", blocks, h) if bs else h, w[p + "post_attention_layernorm.weight"], eps)
        f = moe(c, w, p + "block_sparse_moe.", x) if is_moe(c, i) else \
            mlp(c, x, *(w[f"{p}mlp.{n}_proj.weight"] for n in ("gate", "up", "down")))
        h = rnd(h + f)
        if taps is not None: taps.append(h)
    if bs: h = attn_res(c, w, "model.output_attn_res", blocks, h)
    head = w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
    return rms(h, w["model.norm.weight"], eps) @ head.T

# ------------------------------------------------------------------------------------------------ configuration, shapes
DEFAULTS = dict(hidden_act="silu", rms_norm_eps=1e-6, mla_norm_eps=1e-6, activation_situ_beta=None,
    activation_situ_linear_beta=None, attn_res_block_size=None, q_lora_rank=None, mla_use_output_gate=False,
    linear_attn_config=None, num_experts=None, num_experts_per_token=None, num_shared_experts=0, first_k_dense_replace=0,
    moe_layer_freq=1, moe_renormalize=True, moe_router_activation_func="sigmoid", routed_scaling_factor=1.0,
    num_expert_group=1, topk_group=1, routed_expert_hidden_size=None, latent_moe_use_norm=False, tie_word_embeddings=False)

def text_config(cfg):
    """config.json (nested text_config or flat) -> the text keys, with the defaults of the official classes."""
    c = {**DEFAULTS, **(cfg.get("text_config") or cfg)}
    if c.get("mla_use_nope") is False: raise ValueError("mla_use_nope false: rotary MLA does not exist in this family")
    if c.get("num_key_value_heads") not in (None, c["num_attention_heads"]): raise ValueError("num_key_value_heads must equal num_attention_heads")
    return c

def shapes(c, a_log=None, conv2d=False):
    """name -> (shape, kind), kind b: bf16, f: fp32, q: routed expert.  a_log: shape of A_log as stored, default (N,)."""
    H, V, la, o = c["hidden_size"], c["vocab_size"], c["linear_attn_config"] or {}, {}
    def put(name, *s, kind="b"): o[name] = (s, kind)
    put("model.embed_tokens.weight", V, H); put("model.norm.weight", H)
    if not c["tie_word_embeddings"]: put("lm_head.weight", V, H)
    ar = c["attn_res_block_size"]
    if ar: put("model.output_attn_res_norm.weight", H); put("model.output_attn_res_proj.weight", 1, H)
    for i in range(c["num_hidden_layers"]):
        L = f"model.layers.{i}."; A = L + "self_attn."
        put(L + "input_layernorm.weight", H); put(L + "post_attention_layernorm.weight", H)
        for r in ("self_attention_res", "mlp_res") if ar else ():
            put(L + r + "_norm.weight", H); put(L + r + "_proj.weight", 1, H)
        if is_kda(c, i):
            N, D, KW = la["num_heads"], la["head_dim"], la["short_conv_kernel_size"]; P = N * D
            for m in "qkv":
                put(f"{A}{m}_proj.weight", P, H); put(f"{A}{m}_conv1d.weight", *((P, KW) if conv2d else (P, 1, KW)), kind="f")
            put(A + "f_a_proj.weight", D, H); put(A + "f_b_proj.weight", P, D); put(A + "b_proj.weight", N, H)
            put(A + "A_log", *(a_log or (N,)), kind="f"); put(A + "dt_bias", P, kind="f"); put(A + "o_norm.weight", D, kind="f")
            if la.get("use_full_rank_gate"): put(A + "g_proj.weight", P, H)
            else: put(A + "g_a_proj.weight", D, H); put(A + "g_b_proj.weight", P, D)
            put(A + "o_proj.weight", H, P)
        else:
            n, dn, dr, dv, R, qr = (c[k] for k in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim",
                                                   "v_head_dim", "kv_lora_rank", "q_lora_rank"))
            if qr:
                put(A + "q_a_proj.weight", qr, H); put(A + "q_a_layernorm.weight", qr); put(A + "q_b_proj.weight", n * (dn + dr), qr)
            else: put(A + "q_proj.weight", n * (dn + dr), H)
            put(A + "kv_a_proj_with_mqa.weight", R + dr, H); put(A + "kv_a_layernorm.weight", R)
            put(A + "kv_b_proj.weight", n * (dn + dv), R); put(A + "o_proj.weight", H, n * dv)
            if c["mla_use_output_gate"]: put(A + "g_proj.weight", n * dv, H)
        def ffn(q, I):
            put(q + "gate_proj.weight", I, H); put(q + "up_proj.weight", I, H); put(q + "down_proj.weight", H, I)
        if not is_moe(c, i): ffn(L + "mlp.", c["intermediate_size"]); continue
        B, E, I, Z = L + "block_sparse_moe.", c["num_experts"], c["moe_intermediate_size"], c["routed_expert_hidden_size"]
        put(B + "gate.weight", E, H); put(B + "gate.e_score_correction_bias", E, kind="f")
        if Z is not None:
            put(B + "routed_expert_down_proj.weight", Z, H); put(B + "routed_expert_up_proj.weight", H, Z)
            if c["latent_moe_use_norm"]: put(B + "routed_expert_norm.weight", Z)
        if c["num_shared_experts"]: ffn(B + "shared_experts.", I * c["num_shared_experts"])
        for e in range(E):
            for n, s in (("w1", (I, Z or H)), ("w3", (I, Z or H)), ("w2", (Z or H, I))): put(f"{B}experts.{e}.{n}.weight", *s, kind="q")
    return o

def count(c, mxfp4=True, **kw):
    """total parameters, active per token (lm_head yes, embedding row no), checkpoint bytes, routed-expert parameters."""
    tot = act = byt = exp = 0
    for n, (s, k) in shapes(c, **kw).items():
        x = int(np.prod(s)); tot += x
        byt += x // 2 + x // 32 if k == "q" and mxfp4 else x * (4 if k == "f" else 2)
        if k == "q": exp += x
        elif n != "model.embed_tokens.weight" or c["tie_word_embeddings"]: act += x
    return tot, act + (exp * c["num_experts_per_token"] // c["num_experts"] if exp else 0), byt, exp
