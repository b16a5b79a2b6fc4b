// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/network/network.h"
#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// Whether plans do something, do not, or both are tried.
enum class Tried : std::uint8_t { kEither, kYes, kNo };

/// What may be chosen of a plan for a batch on so many GPUs. An empty list: all that divide.
struct PlanSpace {
    std::uint32_t global_batch = 0;  ///< samples of a step, on all GPUs together
    std::uint32_t gpus = 0;
    std::vector<std::uint32_t> data;
    std::vector<std::uint32_t> context{1};
    std::vector<std::uint32_t> tensor;
    std::vector<std::uint32_t> pipeline;
    std::vector<std::uint32_t> micro_batch;
    Tried sequence = Tried::kEither;
    std::vector<Sharding> sharding{
        Sharding::kNone, Sharding::kOptimizer, Sharding::kGradients, Sharding::kParameters};
    std::vector<Recompute> recompute{Recompute::kNone, Recompute::kSelective, Recompute::kFull};
    std::vector<std::string> schedule{"1f1b", "interleaved_1f1b", "zb_h1", "zb_v"};
    std::vector<std::uint32_t> chunks{2};
    Tried overlap_gradients = Tried::kEither;
};

/// The plans of a space, and what kept the others out.
struct EnumeratedPlans {
    std::vector<ParallelPlan> plans;  ///< each once, in an order that depends on the space alone
    std::uint64_t combinations = 0;   ///< of the axes' values, before anything was refused
    /// How many were refused, by the reason's first words ("the batch", "tensor"), and an example.
    struct Refused {
        std::uint64_t plans = 0;
        std::string example;
    };
    std::map<std::string, Refused> refused;
};

/// All plans of the space that suit the network. `base` gives what is no axis (types, buckets,
/// kernels of attention). A pipeline of one device has no schedule to choose, one tensor-parallel
/// rank no sequence to share, one replica nothing to shard or to overlap.
[[nodiscard]] EnumeratedPlans
enumerate_plans(const PlanSpace& space, const ParallelPlan& base, const Network& network);

/// "data 2, tensor 4, micro-batch 8, full recompute": what a plan chooses, without what is as in
/// every plan.
[[nodiscard]] std::string name_of(const ParallelPlan& plan);

}  // namespace switchfold
