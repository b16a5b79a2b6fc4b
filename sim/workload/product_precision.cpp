// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/product_precision.h"

#include "training/plan/step/rounded_layers.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

ProductRecipe recipe_of(Precision precision) {
    switch (precision) {
    case Precision::kFloat8Delayed:
        return ProductRecipe::kDelayed;
    case Precision::kFloat8Current:
        return ProductRecipe::kCurrent;
    case Precision::kMicroFloat8:
        return ProductRecipe::kMicro;
    case Precision::kFloat8Blockwise:
        return ProductRecipe::kBlockwise;
    case Precision::kNvFloat4:
        return ProductRecipe::kFourBits;
    default:
        return ProductRecipe::kNone;
    }
}

std::string why_no_products(const GpuParams& gpu, Precision precision) {
    const ArithmeticParams& arithmetic = gpu.arithmetic;
    if (rounds_products(precision) && arithmetic.float8_rate <= arithmetic.half_rate)
        return fmt::format(
            "has products of 8 bits (precision {}), and {} has no units for them "
            "(arithmetic/float8_rate is not above half_rate); expected half or single",
            enum_name(precision), gpu.name);
    if (precision == Precision::kNvFloat4 && arithmetic.float4_rate <= arithmetic.float8_rate)
        return fmt::format(
            "has products of 4 bits (precision nvfp4), and {} has no units for them "
            "(arithmetic/float4_rate is not above float8_rate); expected fp8_current, fp8_delayed, "
            "mxfp8 or fp8_blockwise",
            gpu.name);
    if (precision == Precision::kMicroFloat8 && !arithmetic.block_scales)
        return fmt::format(
            "has products with a scale for 32 elements (precision mxfp8), and the matrix units of "
            "{} apply none (arithmetic/block_scales is false); expected fp8_current, fp8_delayed "
            "or fp8_blockwise",
            gpu.name);
    return {};
}

std::string told_products(Precision precision, const ParallelPlan& plan, const Network& network) {
    if (plan.products == ProductRecipe::kNone)
        return {};
    const std::vector<RoundedLayer> rounded = rounded_layers(network, plan.products);
    const auto of = [&](const auto& is) {
        return std::count_if(rounded.begin(), rounded.end(), is);
    };
    const auto products =
        std::count_if(network.layers.begin(), network.layers.end(), [](const Layer& layer) {
            return layer.type == "linear";
        });
    return fmt::format(
        "{} of {} linear layers multiply operands of {} bits ({}); the others, attention and all "
        "else keep 16{}{}",
        of([](const RoundedLayer& layer) { return layer.product; }), products,
        rounded_bits(plan.products), enum_name(precision),
        plan.products == ProductRecipe::kFourBits
            ? " (published runs keep about 15 % of the linear layers, the last, in 16); no product "
              "of 4 bits was measured, its rate is the data sheet's part of the measured one"
            : "",
        plan.products == ProductRecipe::kDelayed
            ? "; the ranks' exchange of largest values, some KiB, is not simulated"
            : "");
}

}  // namespace switchfold
