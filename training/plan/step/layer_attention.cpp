// SPDX-License-Identifier: Apache-2.0
// Attention of a tensor- and context-parallel rank: fused, or from memory to memory.
#include "training/network/product.h"
#include "training/plan/step/layer_work.h"
#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/matrix_product.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold {

using namespace kernel_constants;

namespace {

/// Launches' worth of host time from the size that repeat_interleave reads back to its copy: seven
/// operators of PyTorch (whether all counts are positive, which is read back too, the rows'
/// places), where a launch of Megatron-LM is 6.9 (configs/launches/megatron_lm.json).
constexpr std::uint32_t kCallsOfRepeat = 1;

}  // namespace

double LayerWork::scores(std::uint32_t layer) const {
    const std::optional<AttentionShape> shape = attention_of(network_.layers[layer]);
    if (!shape)
        return 0;
    const double heads = static_cast<double>(shape->heads) /
                         (network_.layers[layer].split == TensorSplit::kHeads ? plan_.tensor : 1);
    return static_cast<double>(kept_of_score(plan_)) * heads * plan_.micro_batch / plan_.context *
           static_cast<double>(shape->queries * shape->keys);
}

double LayerWork::copied_keys(std::uint32_t layer) const {
    if (!plan_.repeat_keys || !attention_of(network_.layers[layer]))
        return 0;
    const AttentionShape shape = *attention_of(network_.layers[layer]);
    const double tensor = network_.layers[layer].split == TensorSplit::kHeads ? plan_.tensor : 1;
    return static_cast<double>(shape.keys * shape.heads * (shape.score_width + shape.head_width)) *
           plan_.micro_batch / plan_.context / tensor * element_;
}

void LayerWork::attention(std::uint32_t layer, bool backward, Work& work) const {
    const Layer& l = network_.layers[layer];
    const char* what = backward ? "backward" : "forward";
    const std::optional<AttentionShape> shape = attention_of(l);
    if (!shape) {
        // Scores and values are two products of the stated work; backward computes five.
        const double macs = static_cast<double>(l.macs) * plan_.micro_batch *
                            (l.split == TensorSplit::kHeads ? 1.0 / plan_.tensor : 1.0) /
                            plan_.context * (backward ? 2.5 : 1.0);
        const std::uint64_t side = whole(std::cbrt(macs));
        kernel(
            layer, what, times_.estimate(MatrixProduct{side, side, side, 1, plan_.datatype}), work);
        return;
    }
    Attention a;
    a.batch = plan_.micro_batch;
    a.queries = whole(static_cast<double>(shape->queries) / plan_.context);
    a.keys = shape->keys;
    const std::uint32_t tensor = l.split == TensorSplit::kHeads ? plan_.tensor : 1;
    a.heads = whole(static_cast<double>(shape->heads) / tensor);
    a.kv_heads = plan_.repeat_keys ? a.heads : whole(static_cast<double>(shape->kv_heads) / tensor);
    a.head_width = shape->score_width;
    a.value_width = shape->head_width;
    a.window = shape->window;
    // Ranks that divide the tokens have parts from both ends of the sequence: equal work. In a
    // window a query sees as many keys wherever it is.
    const bool both_ends = shape->causal && plan_.context > 1 && shape->window == 0;
    if (shape->window > 0)
        a.keys = a.queries;
    a.causal = shape->causal && !both_ends;
    a.backward = backward;
    a.newest = plan_.attention != AttentionKernels::kFlash2;
    a.datatype = plan_.datatype;
    // With a divided sequence every rank needs all keys and values (all-gather) and sums their
    // gradients (reduce-scatter).
    const double keys_and_values = static_cast<double>(shape->keys * shape->kv_heads) *
                                   static_cast<double>(shape->score_width + shape->head_width) *
                                   plan_.micro_batch / tensor * element_;
    if (plan_.context > 1)
        collective(
            layer, "keys and values", CollectiveKind::kAllGather, keys_and_values,
            Sharing::kContext, work);
    if (plan_.attention == AttentionKernels::kUnfused) {
        unfused_attention(layer, a, backward, work);
    } else {
        KernelEstimate estimate = times_.estimate(a);
        if (both_ends) {
            estimate.kernel.isolated = estimate.kernel.isolated / 2;
            estimate.kernel.flops /= 2;
        }
        if (!backward)
            repeated_keys(layer, backward, work);
        kernel(layer, what, estimate, work);
        if (backward)
            repeated_keys(layer, backward, work);
    }
    if (plan_.context > 1 && backward)
        collective(
            layer, "gradients of keys and values", CollectiveKind::kReduceScatter, keys_and_values,
            Sharing::kContext, work);
}

/// PyTorch's repeat_interleave of keys, then of values: the host reads back how many rows there
/// will be, chooses and copies them; the backward pass zeroes a gradient and adds the rows to it.
void LayerWork::repeated_keys(std::uint32_t layer, bool backward, Work& work) const {
    if (!plan_.repeat_keys)
        return;
    const double bytes = copied_keys(layer) / 2;
    for (const char* what : {"keys", "values"}) {
        MemoryKernel copy;
        copy.kernel_class = KernelClass::kCopyLayout;
        if (backward) {
            MemoryKernel zero;
            zero.kernel_class = KernelClass::kElementwise;
            zero.written = bytes;
            kernel(layer, fmt::format("zero gradient of {}", what), times_.estimate(zero), work);
            copy.read = 2 * bytes;
        } else {
            work.push_back(HostWaitItem{});
            work.push_back(CallsItem{kCallsOfRepeat});
            copy.read = bytes;
        }
        copy.written = bytes;
        kernel(
            layer, fmt::format("{} {}", backward ? "add to gradient of" : "repeat", what),
            times_.estimate(copy), work);
    }
}

/// Scores pass through memory: the first product writes them, softmax and dropout read and write
/// them, the second product reads them (Korthikanti et al. 2022, section 4: 5 a s^2 b bytes are
/// kept). Masked scores are computed too. Biases of queries, keys and values are added by a kernel
/// (Megatron-LM's ColumnParallelLinear; other biases are part of the kernel that follows). The
/// heads' output is copied into one row per token; in backward so is its gradient, and the
/// gradients of queries, keys and values are concatenated.
void LayerWork::unfused_attention(
    std::uint32_t layer, const Attention& a, bool backward, Work& work) const {
    const std::uint64_t count = a.batch * a.heads;
    const double scores = static_cast<double>(count * a.queries * a.keys);
    const auto product = [&](const char* what, std::uint64_t n, std::uint64_t k) {
        kernel(
            layer, what,
            times_.estimate(MatrixProduct{a.queries, n, k, count, plan_.datatype, plan_.tf32}),
            work);
    };
    // Megatron-LM's softmax of a causal attention reads the scores up to each query's own position
    // and writes all (scaled_upper_triang_masked_softmax.h).
    const double seen = a.causal ? 0.5 + 0.5 / static_cast<double>(a.keys) : 1;
    const auto bytes = [&](const char* what, double read, double written, double instructions = 0) {
        MemoryKernel k;
        k.kernel_class = KernelClass::kReduction;
        k.read = read * scores;
        k.written = written * scores;
        k.instructions = instructions * scores;
        kernel(layer, what, times_.estimate(k), work);
    };
    const double e = element_;
    const auto copied = [&](const char* what, double elements) {
        kernel(layer, what, times_.estimate(strided(elements, elements * e, elements * e)), work);
    };
    const std::uint64_t values = value_width_of(a);
    const double outputs = static_cast<double>(count * a.queries * values);
    const double gradients = static_cast<double>(count * a.queries * (2 * a.head_width + values));
    if (!backward) {
        for (const std::uint32_t input : network_.layers[layer].inputs)
            if (has_bias(network_.layers[input]))
                copied("bias", out_elements(input));
        repeated_keys(layer, backward, work);
        product("scores", a.keys, a.head_width);
        bytes("softmax", seen * e, e, kMaskedScore);
        if (plan_.attention_dropout)
            bytes("dropout", e, e + 1, kRandomNumber);
        product("values", values, a.keys);
        copied("heads to tokens", outputs);
        return;
    }
    copied("gradient to heads", outputs);
    product("values' gradient", values, a.keys);
    product("probabilities' gradient", a.keys, values);
    if (plan_.attention_dropout)
        bytes("dropout backward", e + 1, e);
    bytes("softmax backward", seen * 2 * e, e);
    product("queries' gradient", a.head_width, a.keys);
    product("keys' gradient", a.head_width, a.keys);
    repeated_keys(layer, backward, work);
    copied("gradients to tokens", gradients);
}

}  // namespace switchfold
