// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/plan/schedule/replay.h"
#include "training/plan/step/parallel_plan.h"
#include "workloads/kernels/kernel_times.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

/// Kernel times of the GPUs of each stage of a replica; the slowest GPU counts.
using ReplicaGpus = std::vector<std::vector<const KernelTimes*>>;

/// Step times of a replica by its number of samples, without contention: passes in schedule order,
/// then the update. Collectives and messages take no time.
class ReplicaTimes {
public:
    /// For a plan with a partition; its `micro_batch` is the most that a replica computes at once.
    /// The arguments must outlive this object.
    ReplicaTimes(const Network& network, const ParallelPlan& plan) :
        network_(network), plan_(plan) {}

    /// Seconds of a step; infinity if the schedule rejects this number of samples.
    [[nodiscard]] double
    seconds(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t samples);
    /// Step times for 0 to `most` samples; element 0 is 0.
    [[nodiscard]] std::vector<double>
    table(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t most);

private:
    using OfGpu = std::vector<StageTimes>;
    /// Times of a micro-batch; `summed`: its gradients are added to those of others.
    const OfGpu& stages(const KernelTimes& times, std::uint32_t samples, bool summed);
    [[nodiscard]] ReplayTimes slowest(const ReplicaGpus& gpus, std::uint32_t samples, bool summed);
    [[nodiscard]] double
    makespan(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t micro_batches);

    const Network& network_;
    const ParallelPlan& plan_;
    std::map<std::tuple<const KernelTimes*, std::uint32_t, bool>, OfGpu> stages_;
    /// By GPUs, samples per micro-batch, and number of micro-batches.
    std::map<std::pair<ReplicaGpus, std::pair<std::uint32_t, std::uint32_t>>, double> makespans_;
};

/// The micro-batches, of at most `most` samples each, that a replica computes.
struct MicroBatches {
    std::uint32_t samples = 1;  ///< of all except the last
    std::uint32_t count = 1;
    std::uint32_t last = 1;
};
/// \pre samples > 0.
[[nodiscard]] MicroBatches micro_batches(std::uint32_t samples, std::uint32_t most);

}  // namespace switchfold
