// SPDX-License-Identifier: Apache-2.0
#include "training/network/product.h"
#include "training/plan/step/layer_split.h"
#include "training/plan/step/layer_work.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

double seconds_of(const std::vector<WinogradKernel>& kernels) {
    double all = 0;
    for (const WinogradKernel& kernel : kernels)
        all += kernel.estimate.seconds();
    return all;
}

}  // namespace

/// Bytes at whose multiples rows of a rank's logits begin. Products of other layers have rows of
/// multiples of 16 B in the networks that there are.
std::uint32_t LayerWork::alignment_of_outputs(std::uint32_t layer, std::uint64_t columns) const {
    if (plan_.pad_vocabulary || network_.layers[layer].split != TensorSplit::kVocabulary)
        return kWholePiece;
    return static_cast<std::uint32_t>(
        std::gcd(columns * size_of(plan_.datatype).count(), std::uint64_t{kWholePiece}));
}

void LayerWork::product(
    std::uint32_t layer, LayerPass which, Work& work, std::uint32_t pieces) const {
    static constexpr std::array<const char*, 3> kWhat{
        "forward", "input gradient", "weight gradient"};
    const Layer& l = network_.layers[layer];
    const char* what = kWhat[static_cast<std::size_t>(which)];
    const std::optional<MatrixShape> shape = product_of(l);
    if (!shape) {
        // A table without shapes: assume a square product with the stated work.
        const double side = std::cbrt(static_cast<double>(l.macs) * plan_.micro_batch / pieces);
        const std::uint64_t s = whole(side);
        kernel(
            layer, what, times_.estimate(MatrixProduct{s, s, s, 1, plan_.datatype, plan_.tf32}),
            work);
        return;
    }
    double columns = static_cast<double>(shape->columns);
    double depth = static_cast<double>(shape->depth);
    if (l.split == TensorSplit::kRows || closes_experts(layer))
        depth /= plan_.tensor;
    else if (splits_by_columns(l) || of_experts(l))
        columns /= plan_.tensor;
    double rows = static_cast<double>(shape->rows) * plan_.micro_batch / plan_.context;
    rows /= pieces;
    if (l.split == TensorSplit::kNone && plan_.sequence && l.out_shape.size() == 2)
        rows /= plan_.tensor;  // each rank has tokens of its own
    double count = static_cast<double>(shape->count);
    if (of_experts(l)) {  // fewer experts, but the tokens of all ranks that share them
        count /= plan_.expert;
        rows *= plan_.expert;
    }
    const Datatype operands = rounds(layer) ? Datatype::kFloat8 : plan_.datatype;
    MatrixProduct product{whole(rows),  whole(columns), whole(depth),
                          whole(count), operands,       plan_.tf32};
    product.four_bits = rounds(layer) && rounded_bits(plan_.products) == 4;
    const std::uint32_t alignment = alignment_of_outputs(layer, product.n);
    if (which == LayerPass::kInputGradient) {
        std::swap(product.n, product.k);
        product.left_alignment = alignment;
    } else if (which == LayerPass::kWeightGradient) {
        std::swap(product.m, product.k);
        product.right_alignment = alignment;
    }
    if (which == LayerPass::kWeightGradient && plan_.accumulation == GradientSums::kFused &&
        plan_.accumulate > 1)
        product.summed_bytes = static_cast<std::uint32_t>(size_of(plan_.gradient).count());
    if (l.type != "lstm") {
        const KernelEstimate direct = times_.estimate(product);
        const auto kernels = winograd(layer, which, product.summed_bytes);
        if (!kernels || seconds_of(*kernels) >= direct.seconds())
            kernel(layer, what, direct, work);
        else
            for (const WinogradKernel& k : *kernels)
                kernel(layer, fmt::format("{}{}", what, k.name), k.estimate, work);
        return;
    }
    // Time steps are sequential; the weight gradients are one product over all of them.
    const std::uint64_t steps = shape->count;
    product.count = 1;
    if (which == LayerPass::kWeightGradient) {
        product.k *= steps;
        kernel(layer, what, times_.estimate(product), work);
        return;
    }
    KernelEstimate step = times_.estimate(product);
    KernelOperation& all = step.kernel;
    all.isolated = all.isolated * steps;
    all.bytes_read = all.bytes_read * steps;
    all.bytes_written = all.bytes_written * steps;
    all.flops *= static_cast<double>(steps);
    kernel(layer, what, step, work);
}

std::optional<std::vector<WinogradKernel>>
LayerWork::winograd(std::uint32_t layer, LayerPass which, std::uint32_t summed_bytes) const {
    const Layer& l = network_.layers[layer];
    if (plan_.datatype != Datatype::kFloat32 || plan_.tf32 || plan_.tensor > 1 || plan_.context > 1)
        return std::nullopt;
    const auto channels = channels_of_small_windows(l);
    if (!channels)
        return std::nullopt;
    return switchfold::winograd(
        {plan_.micro_batch, l.out_shape[1], l.out_shape[2], *channels, l.out_shape[0]}, which,
        summed_bytes, times_);
}

}  // namespace switchfold
