// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/kernel_times.h"
#include "workloads/network/network.h"
#include "workloads/plan/schedule/replay.h"
#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

/// The GPUs that each stage of a replica is on, by their kernel times; the slowest of them counts.
using ReplicaGpus = std::vector<std::vector<const KernelTimes*>>;

/// What a step of a replica takes, by its samples, if nothing slows its kernels: passes in the
/// order of the schedule, and the update. Collectives and messages take no time.
class ReplicaTimes {
public:
    /// For a plan with a partition, whose `micro_batch` is the most that a replica computes at
    /// once. All of them have to stay.
    ReplicaTimes(const Network& network, const ParallelPlan& plan) :
        network_(network), plan_(plan) {}

    /// Seconds; infinity for a number of samples that the schedule refuses.
    [[nodiscard]] double
    seconds(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t samples);
    /// Of all numbers of samples up to `most`, 0 for none.
    [[nodiscard]] std::vector<double>
    table(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t most);

private:
    using OfGpu = std::vector<StageTimes>;
    /// Of a micro-batch; `summed`: its gradients are added to those of others.
    const OfGpu& stages(const KernelTimes& times, std::uint32_t samples, bool summed);
    [[nodiscard]] ReplayTimes slowest(const ReplicaGpus& gpus, std::uint32_t samples, bool summed);
    [[nodiscard]] double
    makespan(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t micro_batches);

    const Network& network_;
    const ParallelPlan& plan_;
    std::map<std::tuple<const KernelTimes*, std::uint32_t, bool>, OfGpu> stages_;
    /// By GPUs, samples of a micro-batch, and number of these.
    std::map<std::pair<ReplicaGpus, std::pair<std::uint32_t, std::uint32_t>>, double> makespans_;
};

/// How many micro-batches of at most `most` samples a replica computes, and what the last has.
struct MicroBatches {
    std::uint32_t samples = 1;  ///< of all but the last
    std::uint32_t count = 1;
    std::uint32_t last = 1;
};
/// \pre some samples.
[[nodiscard]] MicroBatches micro_batches(std::uint32_t samples, std::uint32_t most);

}  // namespace switchfold
