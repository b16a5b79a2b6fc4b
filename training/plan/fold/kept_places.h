// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/parallel_plan.h"
#include "training/plan/step/rank_map.h"
#include "workloads/graph/slow_ranks.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A rank of the first device, and how many of it that rank stands for.
struct KeptPlace {
    RankPlace place;
    std::uint32_t stands_for = 0;
};

/// The ranks of a device that stand for all of it: slow ones, and one of each kind that waits for
/// these in another way, as those of their tensor-parallel groups do and their replicas. All
/// devices keep the same places, so that every message finds its peer. `kinds`: by rank, a number
/// that is different for ranks that differ of themselves, as by their GPUs; empty: none do.
[[nodiscard]] std::vector<KeptPlace> kept_places(
    const ParallelPlan& plan, const std::vector<SlowRank>& slow,
    const std::vector<std::uint32_t>& kinds = {});

}  // namespace switchfold
