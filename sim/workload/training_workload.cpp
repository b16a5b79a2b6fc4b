// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training_workload.h"

#include "core/named_path.h"
#include "training/network/decoder.h"
#include "training/network/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

/// Heads of 128, or the next wider ones that divide the width.
std::uint32_t heads_of(std::uint32_t hidden) {
    constexpr std::uint32_t kWidth = 128;
    std::uint32_t heads = std::max(1U, hidden / kWidth);
    while (hidden % heads != 0)
        --heads;
    return heads;
}

}  // namespace

Network network_of(const TrainingWorkloadParams& workload, const std::filesystem::path& folder) {
    if (workload.transformer) {
        const TransformerParams& t = *workload.transformer;
        GptShape shape;
        shape.layers = t.blocks;
        shape.hidden = t.hidden;
        shape.heads = heads_of(t.hidden);
        shape.sequence = t.sequence;
        shape.vocabulary = t.vocabulary;
        shape.feed_forward = t.feed_forward;
        return decoder(
            fmt::format("transformer of {} blocks, width {}", t.blocks, t.hidden), shape);
    }
    if (workload.network)
        return make_network(*workload.network, folder);
    return read_network_table(path_from(folder, workload.table));
}

TrainingWorkloadParams with_preset(TrainingWorkloadParams workload, std::uint32_t ranks) {
    constexpr std::uint32_t kBatch = 8;
    constexpr Bytes kUnit = mebibytes(24);
    PlanParams& plan = workload.plan.emplace();
    plan.data = ranks;
    plan.micro_batch = workload.batch.value_or(kBatch);
    workload.plan_of_strategy = true;
    // As PyTorch does.
    plan.gradient_as_bucket_view = false;
    plan.norm_keeps = NormKeeps::kInput;
    if (ranks == 1)
        return workload;
    if (workload.strategy == TrainingStrategy::kOptimizerSharded)
        plan.sharding = Sharding::kOptimizer;
    if (workload.strategy == TrainingStrategy::kFullySharded) {
        plan.sharding = Sharding::kParameters;
        plan.unit = workload.unit.value_or(kUnit);
    }
    return workload;
}

}  // namespace switchfold
