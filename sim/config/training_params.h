// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "sim/config/neural_network_params.h"
#include "sim/config/plan_params.h"
#include "sim/config/workload_names.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace switchfold {

class WorkloadKind;

enum class TrainingStrategy : std::uint8_t { kDataParallel, kOptimizerSharded, kFullySharded };
enum class Precision : std::uint8_t {
    kHalf,
    kSingle,
    kFloat8Delayed,
    kFloat8Current,
    kMicroFloat8,
    kFloat8Blockwise,
    kNvFloat4
};

[[nodiscard]] constexpr bool rounds_products(Precision precision) {
    return precision != Precision::kHalf && precision != Precision::kSingle;
}

template <>
struct EnumNames<TrainingStrategy> {
    static constexpr std::array<std::pair<TrainingStrategy, std::string_view>, 3> kNames{
        {{TrainingStrategy::kDataParallel, "data_parallel"},
         {TrainingStrategy::kOptimizerSharded, "optimizer_sharded"},
         {TrainingStrategy::kFullySharded, "fully_sharded"}}};
};
template <>
struct EnumNames<Precision> {
    static constexpr std::array<std::pair<Precision, std::string_view>, 7> kNames{
        {{Precision::kHalf, "half"},
         {Precision::kSingle, "single"},
         {Precision::kFloat8Delayed, "fp8_delayed"},
         {Precision::kFloat8Current, "fp8_current"},
         {Precision::kMicroFloat8, "mxfp8"},
         {Precision::kFloat8Blockwise, "fp8_blockwise"},
         {Precision::kNvFloat4, "nvfp4"}}};
};

/// A decoder of the GPT family, by its shape.
struct TransformerParams {
    std::uint32_t blocks = 24;
    std::uint32_t hidden = 2048;
    std::uint32_t sequence = 2048;
    std::uint32_t vocabulary = 50'257;
    std::uint32_t feed_forward = 0;
    static constexpr auto fields() {
        return list_of(
            field("blocks", &TransformerParams::blocks, "Blocks.", 1U, 1024U).required(),
            field(
                "hidden", &TransformerParams::hidden, "Width of the hidden state.", 16U, 1U << 17U)
                .required(),
            field("sequence", &TransformerParams::sequence, "Tokens of a sample.", 1U, 1U << 20U)
                .required(),
            field(
                "vocabulary", &TransformerParams::vocabulary, "Size of the vocabulary.", 1U,
                1U << 24U),
            field(
                "feed_forward", &TransformerParams::feed_forward,
                "Inner width of a block's feed-forward layer; 0: four times hidden.", 0U,
                1U << 19U));
    }
};

/// One training step by a plan, or by that of a strategy, generated from a network's layers.
struct TrainingWorkloadParams {
    static constexpr std::string_view kType = "training";
    std::optional<TrainingStrategy> strategy;
    std::optional<NeuralNetworkParams> network;
    std::string table;
    std::optional<TransformerParams> transformer;
    std::optional<std::uint32_t> batch;
    Precision precision = Precision::kHalf;
    Datatype gradient = Datatype::kFloat32;
    Bytes bucket = mebibytes(25);
    Bytes first_bucket = mebibytes(1);
    std::optional<Bytes> unit;
    std::uint32_t ranks = 0;
    std::optional<PlanParams> plan;
    bool plan_of_strategy = false;  ///< no key: with_preset() made the plan
    std::string kernel_times;
    static constexpr auto fields() {
        return list_of(
            field(
                "strategy", &TrainingWorkloadParams::strategy,
                "A plan by its name, with all ranks as replicas; data_parallel without a plan. "
                "data_parallel: all-reduces of gradient buckets beside the backward pass (DDP); "
                "optimizer_sharded: reduce-scatters of the same buckets, the optimizer on each "
                "rank's share, all-gathers of the new weights (ZeRO 1); "
                "fully_sharded: all-gathers of weights and reduce-scatters of gradients (FSDP)."),
            field(
                "network", &TrainingWorkloadParams::network,
                "The network: a name of docs/networks.md, the path of a table of its layers, or "
                "its shape."),
            field(
                "table", &TrainingWorkloadParams::table,
                "The network's layers: CSV with layer, type, params, fwd_macs_per_sample, "
                "out_elems_per_sample; relative to this file. As network with a path."),
            field(
                "transformer", &TrainingWorkloadParams::transformer,
                "The network as a decoder of the GPT family with heads of 128. Instead of "
                "network."),
            field(
                "batch", &TrainingWorkloadParams::batch,
                "strategy: samples per rank, 8 unless stated.", 1U, 1U << 20U),
            field(
                "precision", &TrainingWorkloadParams::precision,
                "Precision of weights and activations: half or single, 2 or 4 bytes per element. "
                "Also half with the products of linear layers in 8 or 4 bits, by "
                "recipe: "
                "fp8_delayed and fp8_current (a scale a tensor, of earlier steps or its own), "
                "mxfp8 (a scale for 32 elements, Blackwell), fp8_blockwise (for 128 elements, as "
                "DeepSeek-V3), nvfp4 (4 bits, a scale for 16 and one a tensor, Blackwell); "
                "docs/plans.md."),
            field("gradient", &TrainingWorkloadParams::gradient, "Type of communicated gradients."),
            field(
                "bucket", &TrainingWorkloadParams::bucket,
                "Gradients reduced together (PyTorch's bucket_cap_mb).", Bytes(1),
                Bytes(1ULL << 40U)),
            field(
                "first_bucket", &TrainingWorkloadParams::first_bucket,
                "The first bucket, of the last layers.", Bytes(1), Bytes(1ULL << 40U)),
            field(
                "unit", &TrainingWorkloadParams::unit,
                "fully_sharded: plan's unit, the least size of a unit, 24 MiB unless stated.",
                Bytes(1), Bytes(1ULL << 40U)),
            field(
                "ranks", &TrainingWorkloadParams::ranks,
                "Participating GPUs, from rank 0; 0: all, or as many as the plan needs.", 0U,
                65'536U),
            field(
                "plan", &TrainingWorkloadParams::plan,
                "How network, batch and passes are divided over the ranks (docs/plans.md). Instead "
                "of strategy, batch and unit."),
            field(
                "kernel_times", &TrainingWorkloadParams::kernel_times,
                "CSV of measured kernels, which replace the model's times; relative to this "
                "file."));
    }
    void check(ParamChecker& checker) const {
        if (plan && strategy)
            checker.error(
                "/strategy", "is a plan by its name, and plan is one; expected one of both");
        if (plan && batch)
            checker.error(
                "/batch", "is a strategy's, and there is a plan; expected plan/micro_batch");
        if (plan && unit)
            checker.error("/unit", "is a strategy's, and there is a plan; expected plan/unit");
        if (plan && plan->float8_weights && !rounds_products(precision))
            checker.error(
                "/plan/float8_weights",
                "is of products of 8 bits, and precision has none; expected fp8_delayed, "
                "fp8_current, mxfp8, fp8_blockwise or nvfp4 there");
        if (plan && plan->moments != Datatype::kFloat32 && plan->moments != Datatype::kFloat16 &&
            plan->moments != Datatype::kBfloat16)
            checker.error(
                "/plan/moments", "is not a type of moments; expected float32, float16 or bfloat16");
        const int named = (network.has_value() ? 1 : 0) + (table.empty() ? 0 : 1) +
                          (transformer.has_value() ? 1 : 0);
        if (named == 0)
            checker.error("", "names no network; expected network, table or transformer");
        else if (named > 1)
            checker.error("", "names two networks; expected one of network, table and transformer");
    }
};

[[nodiscard]] const WorkloadKind& kind_of(const TrainingWorkloadParams& params);

}  // namespace switchfold
