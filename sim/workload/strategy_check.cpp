// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/strategy_check.h"

#include "core/gibibytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kMostBatch = 1U << 20U;  // that of the parameter

StateShards shards_of(TrainingStrategy strategy) {
    switch (strategy) {
    case TrainingStrategy::kDataParallel:
        return StateShards::kNone;
    case TrainingStrategy::kOptimizerSharded:
        return StateShards::kOptimizer;
    case TrainingStrategy::kFullySharded:
        return StateShards::kAll;
    }
    return StateShards::kNone;
}

}  // namespace

Bytes channel_buffers(const CollectiveParams& params, std::uint32_t ranks) {
    return ranks < 2
               ? Bytes()
               : (params.ll_buffer + params.ll128_buffer + params.simple_buffer) * params.channels;
}

StrategyCheck::StrategyCheck(
    const TrainingWorkloadParams& workload, const Network& network, const ExecutionGraph& step,
    Bytes channels) :
    workload_(workload), network_(network), step_(step), channels_(channels) {}

StrategyMemory StrategyCheck::memory(std::uint32_t batch) const {
    StrategyMemoryOptions options;
    options.shards = shards_of(workload_.strategy);
    options.ranks = static_cast<std::uint32_t>(step_.ranks.size());
    options.batch = batch;
    options.element = workload_.precision == Precision::kSingle ? 4 : 2;
    options.channel_buffers = channels_.count();
    return strategy_memory(network_, step_, options);
}

std::uint32_t StrategyCheck::largest_batch(Bytes capacity) const {
    const auto fits = [&](std::uint32_t batch) { return memory(batch).all() <= capacity.count(); };
    std::uint32_t fitting = 0;
    std::uint32_t above = workload_.batch;
    while (above <= kMostBatch && fits(above)) {
        fitting = above;
        above = std::min(2 * above, kMostBatch + 1);
    }
    while (above - fitting > 1) {
        const std::uint32_t middle = fitting + (above - fitting) / 2;
        (fits(middle) ? fitting : above) = middle;
    }
    return fitting;
}

std::string StrategyCheck::told() const {
    const StrategyMemory needed = memory(workload_.batch);
    std::string what = fmt::format("{:.1f} GiB a GPU", in_gibibytes(double(needed.all())));
    const char* separator = ": ";
    for (const StrategyMemoryPart& part : kStrategyMemoryParts)
        if (const std::uint64_t bytes = needed.*part.bytes; bytes > 0)
            what += fmt::format(
                "{}{} {:.1f}", std::exchange(separator, ", "), part.name,
                in_gibibytes(double(bytes)));
    return what;
}

std::string StrategyCheck::lack(const GpuParams& gpu) const {
    const Bytes capacity = gpu.memory.for_plans();
    if (capacity.count() == 0 || memory(workload_.batch).all() <= capacity.count())
        return "";
    const std::uint32_t largest = largest_batch(capacity);
    return fmt::format(
        "is {}, which needs {}, and {} has {}; expected {}", workload_.batch, told(), gpu.name,
        to_string(capacity),
        largest > 0 ? fmt::format("at most {}", largest)
                    : "a smaller network or more of the state divided: not even one sample fits");
}

}  // namespace switchfold
