// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/output/writers.h"
#include "sim/results/run_files.h"

#include <functional>
#include <vector>

namespace switchfold {

/// Stages the folder rank-timelines: a folder a scenario, in it a file a rank as torch.profiler
/// writes them. `gpu_of` says which GPU a rank runs on.
void write_rank_timelines(
    ResultFolder& folder, const std::vector<RanScenario>& scenarios,
    const std::function<const GpuParams&(std::uint32_t rank)>& gpu_of);

}  // namespace switchfold
