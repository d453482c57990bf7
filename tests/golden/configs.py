# ===- configs.py - The random models of the golden tests -----------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# One entry a model: its config.json, how its checkpoint is written, its seed, and prompts to try first in bf16.
# choose_seeds.py chose the seeds so that no choice of experts lies within rounding of another one.
#
# ===----------------------------------------------------------------------===#
import engine  # noqa: F401  (sets the path of the reference)
import checkpoint
import numpy as np
from oracle import TINY_K3, TINY_LINEAR, _MX, vary

# Long enough for three chunks of 64 and both sides of a cache page.
LENGTH = 130
# Tokens of the prompt where the rest is decoded in bf16.
GIVEN = 66
COMPILE = ("--max-tokens", 192, "--max-logit-rows", 192, "--max-context", 320)


def layers(count, mla):
    """linear_attn_config keys: layers of the 1-based list `mla` are MLA, the others KDA."""
    return dict(kda_layers=[i for i in range(1, count + 1) if i not in mla], full_attn_layers=list(mla))


def k3(count, mla, linear=None, **keys):
    return vary(TINY_K3, num_hidden_layers=count, linear={**layers(count, mla), **(linear or {})}, **keys)


def kimi_linear(count, mla, linear=None, **keys):
    return vary(TINY_LINEAR, num_hidden_layers=count, linear={**layers(count, mla), **(linear or {})}, **keys)


# name: (config, options of the writer, seed, prompts that the bf16 test tries first)
CONFIGS = {
    "k3": (k3(8, [4, 7, 8]), dict(a_log=(16,)), 20, (5, 1)),
    "k3_block1": (
        k3(
            5,
            [3, 5],
            dict(num_heads=3, head_dim=32),
            attn_res_block_size=1,
            num_attention_heads=3,
            v_head_dim=24,
            qk_nope_head_dim=20,
            qk_rope_head_dim=12,
        ),
        {},
        4,
        (6, 3),
    ),
    "k3_block12": (k3(14, [4, 8, 12, 14], dict(num_heads=2), attn_res_block_size=12), dict(a_log=(4,)), 64, (15, 3)),
    "k3_d64": (
        k3(
            4,
            [2, 4],
            dict(num_heads=6, head_dim=64),
            hidden_size=96,
            routed_expert_hidden_size=96,
            num_attention_heads=6,
            v_head_dim=32,
        ),
        dict(conv2d=True),
        2,
        (4, 2),
    ),
    "k3_d128": (k3(4, [3, 4], dict(num_heads=3, head_dim=128), quantization_config=None), dict(a_log=(128,)), 6, (1, 2)),
    "k3_top1": (k3(5, [2, 5], num_experts_per_token=1, num_shared_experts=None), {}, 1, (6, 11)),
    "k3_small_qk": (k3(5, [4, 5]), dict(scale={"q_proj.weight": 1e-3, "k_proj.weight": 1e-3}), 3, (1, 2)),
    "k3_small_rows": (
        k3(5, [4, 5], attn_res_block_size=2),
        dict(scale={"embed_tokens.weight": 1e-2, "q_a_proj.weight": 1e-3, "kv_a_proj_with_mqa.weight": 1e-3}),
        5,
        (9, 10),
    ),
    "k3_softplus": (
        k3(5, [2, 5], dict(use_full_rank_gate=False, gate_lower_bound=None, short_conv_kernel_size=3), q_lora_rank=None),
        {},
        2,
        (3, 4),
    ),
    "linear": (kimi_linear(7, [4, 7]), dict(a_log=(1, 1, 4, 1)), 5, (1, 3)),
    "linear_d32": (
        kimi_linear(
            5,
            [3, 5],
            dict(num_heads=3, head_dim=32),
            num_attention_heads=3,
            v_head_dim=24,
            tie_word_embeddings=True,
            **_MX,
        ),
        {},
        13,
        (1, 2),
    ),
    "linear_groups": (
        kimi_linear(4, [2, 4], num_expert_group=4, topk_group=2, moe_router_activation_func="softmax"),
        {},
        1,
        (1, 2),
    ),
}


def write(folder, name, seed=None):
    """Writes the checkpoint of a model and returns the folder."""
    config, options, chosen, _ = CONFIGS[name]
    options = dict(options)
    scale = options.pop("scale", {})
    plain = checkpoint._random

    def scaled(tensor, *rest):
        factor = [f for suffix, f in scale.items() if tensor.endswith(suffix)]
        return plain(tensor, *rest) * (factor[0] if factor else 1.0)

    checkpoint._random = scaled
    try:
        checkpoint.random_checkpoint(folder, config, chosen if seed is None else seed, **options)
    finally:
        checkpoint._random = plain
    return folder


def prompt(name, which=0, seed=None):
    """Ids of a prompt of LENGTH tokens. Number 0 and its prefixes are those with a known margin."""
    config, _, chosen, _ = CONFIGS[name]
    vocabulary = (config.get("text_config") or config)["vocab_size"]
    rng = np.random.default_rng([chosen if seed is None else seed, 1000 + which])
    return [int(i) for i in rng.integers(3, vocabulary, LENGTH)]
