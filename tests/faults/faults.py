# ===- faults.py - Mistakes to put into the compiler on purpose -----------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# SITES are edits of a copy of the sources: the old text, which must occur once (white space does not count), and a new
# one in which `fault("name")` chooses the wrong variant at run time. FAULTS names each mistake and the tests that run.
#
# ===----------------------------------------------------------------------===#

LOWER = "compiler/passes/lower/"
IR = "compiler/import/ir/"

SITES = [
    # ------------------------------------------------------------------------------------------------------ gate
    (
        LOWER + "Scan.cpp",
        "return lower ? sigmoid(s[2] * z) * *lower : -(s[2] * softplus(z));",
        """if (fault("softplus-for-bounded")) return -(s[2] * softplus(z));
           if (lower && fault("clamp-for-sigmoid")) return maximum(-(s[2] * softplus(z)), z.constant(*lower));
           if (fault("bounded-for-softplus")) return sigmoid(s[2] * z) * lower.value_or(-5.0);
           return lower ? sigmoid(s[2] * z) * *lower : -(s[2] * softplus(z));""",
    ),
    (
        LOWER + "Scan.cpp",
        "Value a = m.map({m.reshape(m.load(k.view(kda.getALog()), {1}, {head}, {k.index(state.getHeads())}), {1, 1})},",
        """int64_t logs = cast<RankedTensorType>(kda.getALog().getType()).getNumElements();
           Value a = m.map({fault("a-log-per-channel")
               ? m.reshape(m.load(k.view(kda.getALog()), {state.getKey()}, {k.index(0)}, {k.index(logs)}), {1, state.getKey()})
               : m.reshape(m.load(k.view(kda.getALog()), {1}, {head}, {k.index(state.getHeads())}), {1, 1})},""",
    ),
    # ------------------------------------------------------------------------------------------------ recurrence
    (
        LOWER + "Scan.cpp",
        """Value loadState(Value slot) {
           bool kv = state.getOrder() == model::StateOrder::KeyValue;""",
        """Value loadState(Value slot) {
           bool kv = (state.getOrder() == model::StateOrder::KeyValue) != fault("state-swapped");""",
    ),
    (
        LOWER + "Scan.cpp",
        """void storeState(Value t, Value slot) {
           bool kv = state.getOrder() == model::StateOrder::KeyValue;""",
        """void storeState(Value t, Value slot) {
           bool kv = (state.getOrder() == model::StateOrder::KeyValue) != fault("state-swapped");""",
    ),
    (
        LOWER + "Scan.cpp",
        "Value decayed = m.map({loadState(slot), decay}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; });",
        """Value decayed = fault("decay-after-update") ? loadState(slot)
               : m.map({loadState(slot), decay}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; });""",
    ),
    (
        LOWER + "Scan.cpp",
        "Value o = m.mma(nothing, q, next);",
        """if (fault("decay-after-update"))
             next = m.map({next, decay}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; });
           Value o = m.mma(nothing, q, fault("output-before-update") ? decayed : next);""",
    ),
    (
        LOWER + "Scan.cpp",
        "return select(lessEqual(s[2], s[1]), s[0], s[0].constant(0.0));",
        """if (fault("output-before-update")) return select(lessThan(s[2], s[1]), s[0], s[0].constant(0.0));
           return select(lessEqual(s[2], s[1]), s[0], s[0].constant(0.0));""",
    ),
    (
        LOWER + "Scan.cpp",
        "Value fresh = tile::TriSolveOp::create(k.b, lower, rhs);",
        """Value fresh;
           if (fault("repeated-squaring")) {
             Value none = m.splat({count, count}, 0.0), factor = lower;
             SmallVector<Value> powers;
             for (int64_t power = 2; power < count; power *= 2)
               powers.push_back(factor = m.mma(none, factor, factor));
             fresh = rhs;
             for (Value power : llvm::reverse(powers))
               fresh = m.mma(fresh, power, fresh);
             fresh = m.map({fresh, m.mma(nothing, lower, fresh)}, [](ArrayRef<Scalar> s) { return s[0] - s[1]; });
           } else {
             fresh = tile::TriSolveOp::create(k.b, lower, rhs);
           }""",
    ),
    (
        LOWER + "Scan.cpp",
        "Value q = m.l2Norm(stepInput(kda.getQ(), state.getKey(), slot), 1.0 / std::sqrt(double(state.getKey())));",
        """Value q = m.l2Norm(stepInput(kda.getQ(), state.getKey(), slot),
                              fault("no-q-scale") ? 1.0 : 1.0 / std::sqrt(double(state.getKey())));""",
    ),
    (
        LOWER + "Scan.cpp",
        "Value q = m.l2Norm(headRows(kda.getQ(), key, count, row, end), 1.0 / std::sqrt(double(key)));",
        """Value q = m.l2Norm(headRows(kda.getQ(), key, count, row, end),
                              fault("no-q-scale") ? 1.0 : 1.0 / std::sqrt(double(key)));""",
    ),
    (
        LOWER + "TileMath.cpp",
        "return s[0] * (s[0].constant(scale) / sqrt(s[1] + 1e-6));",
        """double l2Eps = fault("l2-eps-on-mean") ? 1e-6 * double(shape(x).back()) : 1e-6;
           return s[0] * (s[0].constant(scale) / sqrt(s[1] + l2Eps));""",
    ),
    # ------------------------------------------------------------------------------------------------ convolution
    (
        LOWER + "Conv.cpp",
        "auto rowOf = [&](Value t, int64_t i) { return m.extract(t, {1, width}, {k.index(i), zero}); };",
        """auto rowOf = [&](Value t, int64_t i) {
             bool reversed = fault("conv-taps-reversed") && t == taps;
             return m.extract(t, {1, width}, {k.index(reversed ? history - i : i), zero});
           };""",
    ),
    (
        LOWER + "Conv.cpp",
        "acc = addTap(m, acc, m.extract(taps, {1, width}, {k.index(i), zero}),",
        """acc = addTap(m, acc, m.extract(taps, {1, width},
                                         {k.index(fault("conv-taps-reversed") ? r.history - i : i), zero}),""",
    ),
    (
        LOWER + "Conv.cpp",
        "m.store(r.input(m.add(count, k.index(i - r.history))), k.view(conv.getState()),",
        """m.store(r.input(m.add(count, k.index(i - r.history - (fault("conv-state-off-by-one") ? 1 : 0)))),
                   k.view(conv.getState()),""",
    ),
    # -------------------------------------------------------------------------------------------------------- MLA
    (
        LOWER + "Row.cpp",
        "return roundTo(s[0] * sigmoid(s[1]), element(gate.getResult()));",
        'return roundTo(fault("no-mla-gate") ? s[0] : s[0] * sigmoid(s[1]), element(gate.getResult()));',
    ),
    (
        IR + "LayerBuilder.cpp",
        "1.0 / std::sqrt(double(nope + rope));",
        '1.0 / std::sqrt(double(fault("mla-scale-nope-only") ? nope : nope + rope));',
    ),
    (
        # The only k3.rms_norm with the eps of MLA. Its gain is read, or the weight would be missed as unused.
        LOWER + "Row.cpp",
        "tiles[op.getResult()] = m.rmsNorm(get(op.getX()), loadGain(op.getGain()), eps(op.getEps()), element(op.getResult()));",
        """Value normGain = loadGain(op.getGain());
           tiles[op.getResult()] = fault("no-q-a-norm") && eps(op.getEps()) == 1e-6
               ? get(op.getX()) : m.rmsNorm(get(op.getX()), normGain, eps(op.getEps()), element(op.getResult()));""",
    ),
    # ----------------------------------------------------------------------------------------------------- experts
    (
        LOWER + "Row.cpp",
        "m.sum(m.map({ids, id, scores},",
        'm.sum(m.map({ids, id, fault("bias-in-weights") ? biased : scores},',
    ),
    (
        LOWER + "Row.cpp",
        "if (topK > 1 && op.getRenormalize())",
        """if (fault("no-renormalisation") ? false
               : (topK > 1 || fault("top1-renormalised")) && op.getRenormalize())""",
    ),
    (
        LOWER + "Row.cpp",
        "if (activation == model::Activation::SwiGLU)",
        'if (activation == model::Activation::SwiGLU || fault("swiglu-for-situ"))',
    ),
    (
        LOWER + "Contraction.cpp",
        "gluScalar(roundTo(s[0], element), roundTo(s[1], element),",
        """gluScalar(roundTo(s[fault("w1-w3-swapped") ? 1 : 0], element),
                     roundTo(s[fault("w1-w3-swapped") ? 0 : 1], element),""",
    ),
    (
        "compiler/codegen/cpu/Elementwise.cpp",
        "shifts.push_back(int32_t(4 * lane));",
        'shifts.push_back(int32_t(4 * (fault("nibbles-swapped") ? lane ^ 1 : lane)));',
    ),
    (
        "compiler/codegen/cpu/Elementwise.cpp",
        "byte.index = {n, c.div(k, 32)};",
        """Value column = c.div(k, 32);
           if (fault("scale-group-off-by-one"))
             column = arith::MaxSIOp::create(c.b, c.loc, arith::SubIOp::create(c.b, c.loc, column, c.index(1)), c.index(0));
           byte.index = {n, column};""",
    ),
    (
        IR + "LayerBuilder.cpp",
        'Value logits = linear(x, "moe.router", /*f32=*/true);',
        'Value logits = linear(fault("router-fed-latent") ? linear(x, "moe.latent_down") : x, "moe.router", /*f32=*/true);',
    ),
    (
        LOWER + "Row.cpp",
        "Value parts = m.reshape(x, {count, width}), shares = m.reshape(weights, {count, 1});",
        """Value parts = m.reshape(x, {count, width}), shares = m.reshape(weights, {count, 1});
           if (fault("latent-norm-before-sum"))
             parts = m.rmsNorm(parts, m.splat({1, width}, 1.0), 1e-5, k.b.getF32Type());""",
    ),
    (
        IR + "LayerBuilder.cpp",
        "Value y = model::GluOp::create(b, like(x, width), gate, up, activation(), b.getF64FloatAttr(c.situBeta), linearBeta());",
        # Nothing is left of their activation; without the op their weights would be missed as unused.
        """bool empty = fault("no-shared-experts") && prefix == "moe.shared.";
           Value y = model::GluOp::create(b, like(x, width), gate, up, activation(), b.getF64FloatAttr(c.situBeta),
                                          empty ? b.getF64FloatAttr(1e-20) : linearBeta());""",
    ),
    # -------------------------------------------------------------------------------------------- residuals, norms
    (
        IR + "BuildModel.cpp",
        "model::AttnResPushOp::create(b, stack, count, sum);",
        """Value pushed = sum;
           if (fault("push-after-mix"))
             pushed = model::CastOp::create(b, h, l.mix("attn_res", stack, count, sum));
           model::AttnResPushOp::create(b, stack, count, pushed);""",
    ),
    (
        IR + "BuildModel.cpp",
        "c.attnResBlockSize && layer % *c.attnResBlockSize == 0;",
        'c.attnResBlockSize && layer % *c.attnResBlockSize == (fault("block-boundary-off-by-one") ? 1 : 0);',
    ),
    (
        IR + "BuildModel.cpp",
        "llvm::divideCeil(layer, *c.attnResBlockSize)",
        """(fault("block-boundary-off-by-one")
               ? (layer ? llvm::divideCeil(layer - 1, *c.attnResBlockSize) : 0)
               : llvm::divideCeil(layer, *c.attnResBlockSize))""",
    ),
    (
        IR + "BuildModel.cpp",
        "arith::ConstantIndexOp::create(b, b.getLoc(), llvm::divideCeil(c.numHiddenLayers, *c.attnResBlockSize)), h);",
        """arith::ConstantIndexOp::create(b, b.getLoc(),
               // Over no block the mix is the running sum.
               fault("no-final-mix") ? 0
               : llvm::divideCeil(c.numHiddenLayers - (fault("block-boundary-off-by-one") ? 1 : 0), *c.attnResBlockSize)), h);""",
    ),
    (
        IR + "LayerBuilder.cpp",
        "x, weight(role), b.getF64FloatAttr(eps));",
        'x, weight(role), b.getF64FloatAttr(fault("norm-eps-1e-6") ? 1e-6 : eps));',
    ),
]

K3, LINEAR, OPS_KDA, OPS_CONV = "k3_f32", "linear_f32", "ops_kda", "ops_conv"

# name: (what is wrong, tests of tests/golden that run)
FAULTS = {
    "softplus-for-bounded": ("softplus for the bounded gate", [OPS_KDA, K3]),
    "bounded-for-softplus": ("the bounded gate for softplus", [OPS_KDA, LINEAR]),
    "clamp-for-sigmoid": ("softplus clamped to the bound for the sigmoid", [OPS_KDA, K3]),
    "a-log-per-channel": ("A_log read per channel", [OPS_KDA, K3]),
    "state-swapped": ("state stored with key and value swapped", [OPS_KDA, K3]),
    "decay-after-update": ("decay after the update (decode)", [OPS_KDA, K3]),
    "output-before-update": ("output read before the update", [OPS_KDA, K3]),
    "conv-taps-reversed": ("conv taps reversed", [OPS_CONV, K3]),
    "conv-state-off-by-one": ("conv state one row too early", [OPS_CONV, K3]),
    "no-q-scale": ("q not scaled by K^-0.5", [OPS_KDA, K3]),
    "l2-eps-on-mean": ("eps of the L2 norm on the mean", [OPS_KDA, "k3_small_qk_f32"]),
    "no-mla-gate": ("no output gate on MLA", [K3, "tiny_f32"]),
    "mla-scale-nope-only": ("MLA scale without the shared dimensions", [K3, "tiny_f32"]),
    "no-q-a-norm": ("q_a norm missing", [K3, "tiny_f32"]),
    "bias-in-weights": ("router bias inside the weights", ["ops_experts", K3]),
    "no-renormalisation": ("weights not renormalised", ["ops_experts", LINEAR]),
    "top1-renormalised": ("weight of a single expert renormalised", ["ops_experts", "k3_top1_f32"]),
    "swiglu-for-situ": ("SwiGLU for SiTU", ["ops_rows", K3]),
    "w1-w3-swapped": ("w1 and w3 swapped", ["ops_experts", K3]),
    "nibbles-swapped": ("nibbles swapped", ["ops_experts", K3]),
    "scale-group-off-by-one": ("scale of the group before", ["ops_experts", "k3_d64_f32"]),
    "router-fed-latent": ("router fed with the latent", ["k3_d64_f32"]),
    "latent-norm-before-sum": ("experts normed before their sum", ["ops_experts", K3]),
    "no-shared-experts": ("shared experts missing", [K3, "tiny_f32"]),
    "push-after-mix": ("the mix pushed instead of the sum", [K3, "k3_block1_f32"]),
    "block-boundary-off-by-one": ("blocks begin one layer late", [K3, "k3_small_rows_f32"]),
    "no-final-mix": ("final mix missing", [K3, "tiny_f32"]),
    "norm-eps-1e-6": ("eps of the norms 1e-6 for 1e-5", [K3, "k3_small_rows_f32"]),
    "repeated-squaring": ("inverse of the chunk by repeated squaring", [OPS_KDA]),
}
