// SPDX-License-Identifier: Apache-2.0
// Operands of products that are rounded to 8 bits.
#include "training/plan/step/layer_split.h"
#include "training/plan/step/layer_work.h"
#include "training/plan/step/rounding_kernels.h"

#include <fmt/format.h>

namespace switchfold {

double LayerWork::rounded_element() const {
    return rounded_bytes(plan_.products);
}

void LayerWork::round(
    std::uint32_t layer, const char* what, double elements, bool divided, Work& work) const {
    constexpr double kLargest = 4;  // bytes: a float32
    for (const RoundingKernel& one :
         rounding_kernels(plan_.products, elements, element_, times_.gpu().kernels)) {
        kernel(
            layer, fmt::format("{}{}{}", one.before, what, one.behind), times_.estimate(one.kernel),
            work);
        if (divided && !one.before.empty())
            collective(
                layer, "largest of all", CollectiveKind::kAllReduce,
                Carried{kLargest, Datatype::kFloat32}, Sharing::kTensor, work);
    }
}

/// Ranks round their part of an input before they gather it.
void LayerWork::round_input(std::uint32_t layer, Work& work) const {
    if (!rounded_[layer].input)
        return;
    const bool divided =
        plan_.sequence && plan_.tensor > 1 && splits_by_columns(network_.layers[layer]);
    const double elements = in_elements(layer) / (divided ? plan_.tensor : 1);
    if (!rounded_[network_.layers[layer].inputs.front()].norm)
        return round(layer, "input", elements, divided, work);
    if (copies_of(plan_.products, times_.gpu().kernels) == 1)
        return;
    MemoryKernel transpose;
    transpose.kernel_class = KernelClass::kCopyLayout;
    transpose.read = elements;
    transpose.written = elements;
    kernel(layer, "input transposed", times_.estimate(transpose), work);
}

void LayerWork::round_gradient(std::uint32_t layer, Work& work) const {
    if (!rounded_[layer].product)
        return;
    const bool divided = plan_.sequence && plan_.tensor > 1 && sums_output(layer);
    round(layer, "gradient", out_elements(layer) / (divided ? plan_.tensor : 1), divided, work);
}

/// Weights that were gathered in the type of activations are rounded in each pass.
void LayerWork::round_weights(std::uint32_t layer, Work& work) const {
    if (rounded_[layer].product && plan_.sharding == Sharding::kParameters && !plan_.float8_weights)
        round(layer, "weights", parameters(layer), false, work);
}

double LayerWork::rounded_parameters(std::uint32_t layer) const {
    return rounded_[layer].product ? parameters(layer) : 0;
}

double LayerWork::gathered_bytes(std::uint32_t layer) const {
    return switchfold::gathered_bytes(plan_, parameters(layer), rounded_parameters(layer));
}

}  // namespace switchfold
