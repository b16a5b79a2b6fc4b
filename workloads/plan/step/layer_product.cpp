// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/winograd.h"
#include "workloads/network/product.h"
#include "workloads/plan/step/layer_split.h"
#include "workloads/plan/step/layer_work.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace switchfold {

void LayerWork::product(std::uint32_t layer, LayerPass which, Work& work) const {
    static constexpr std::array<const char*, 3> kWhat{
        "forward", "input gradient", "weight gradient"};
    const Layer& l = network_.layers[layer];
    const char* what = kWhat[static_cast<std::size_t>(which)];
    const std::optional<MatrixShape> shape = product_of(l);
    if (!shape) {
        // A table without shapes: assume a square product with the stated work.
        const double side = std::cbrt(static_cast<double>(l.macs) * plan_.micro_batch);
        const std::uint64_t s = whole(side);
        kernel(
            layer,
            what,
            times_.estimate(MatrixProduct{s, s, s, 1, plan_.datatype, plan_.tf32}),
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
    double count = static_cast<double>(shape->count);
    if (of_experts(l)) {  // fewer experts, but the tokens of all ranks that share them
        count /= plan_.expert;
        rows *= plan_.expert;
    }
    MatrixProduct product{
        whole(rows), whole(columns), whole(depth), whole(count), plan_.datatype, plan_.tf32};
    if (which == LayerPass::kInputGradient)
        std::swap(product.n, product.k);
    else if (which == LayerPass::kWeightGradient)
        product = {
            whole(depth), whole(columns), whole(rows), product.count, plan_.datatype, plan_.tf32};
    if (which == LayerPass::kWeightGradient && plan_.accumulation == GradientSums::kFused &&
        plan_.accumulate > 1)
        product.summed_bytes = static_cast<std::uint32_t>(size_of(plan_.gradient).count());
    if (l.type != "lstm") {
        const KernelEstimate direct = times_.estimate(product);
        if (!winograd(layer, which, product, direct.seconds(), what, work))
            kernel(layer, what, direct, work);
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

/// Adds the kernels of Winograd's algorithm where they take less than the direct product.
bool LayerWork::winograd(
    std::uint32_t layer,
    LayerPass which,
    const MatrixProduct& direct,
    double seconds,
    std::string_view what,
    Work& work) const {
    const Layer& l = network_.layers[layer];
    if (plan_.datatype != Datatype::kFloat32 || plan_.tf32 || plan_.tensor > 1 ||
        plan_.context > 1 || !has_small_windows(l))
        return false;
    const std::uint64_t in = product_of(l)->depth / kSmallWindow;
    const auto kernels = switchfold::winograd(
        {plan_.micro_batch, l.out_shape[1], l.out_shape[2], in, l.out_shape[0]},
        which,
        direct.summed_bytes,
        times_);
    if (!kernels)
        return false;
    double all = 0;
    for (const WinogradKernel& k : *kernels)
        all += k.estimate.seconds();
    if (all >= seconds)
        return false;
    for (const WinogradKernel& k : *kernels)
        work.push_back(KernelItem{fmt::format("{} {}{}", l.name, what, k.name), k.estimate.kernel});
    return true;
}

}  // namespace switchfold
