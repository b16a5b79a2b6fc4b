// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/plan/step/parallel_plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// Whether plans use an option, do not use it, or both are tried.
enum class Tried : std::uint8_t { kEither, kYes, kNo };

/// Choices for a plan with a batch on a number of GPUs. An empty list: all divisors.
struct PlanSpace {
    std::uint32_t global_batch = 0;  ///< samples per step, over all GPUs
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

/// The plans of a space, and the reasons for rejecting others.
struct EnumeratedPlans {
    std::vector<ParallelPlan>
        plans;  ///< without duplicates, in an order that depends on the space alone
    std::uint64_t combinations = 0;  ///< of the axes' values, before any rejection
    /// Number of rejections by the reason's first words ("the batch", "tensor"), with an example.
    struct Refused {
        std::uint64_t plans = 0;
        std::string example;
    };
    std::map<std::string, Refused> refused;
};

/// All plans of the space that suit the network. `base` supplies everything that is not an axis
/// (types, buckets, attention kernels). Options without effect are not varied: the schedule of a
/// one-device pipeline, sequence parallelism of one tensor-parallel rank, sharding and overlap of
/// one replica.
[[nodiscard]] EnumeratedPlans
enumerate_plans(const PlanSpace& space, const ParallelPlan& base, const Network& network);

/// "data 2, tensor 4, micro-batch 8, full recompute": what distinguishes the plan from others.
[[nodiscard]] std::string name_of(const ParallelPlan& plan);

}  // namespace switchfold
