// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "sim/energy/energy.h"

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// What a link's energy is counted as.
enum class LinkPlace : std::uint8_t { kGpuLink, kPcie, kNetwork };
/// By what it joins.
[[nodiscard]] LinkPlace place_of(const TopologyNode& a, const TopologyNode& b);

/// The work of a finished run, all scenarios.
struct RunWork {
    std::string experiment;
    std::vector<StepWork> steps;
};
/// Reads result.json, kernels.csv and effective-config.json of the folder. Throws ConfigError if
/// they are not those of a run on GPUs, or of several workloads that share a machine.
[[nodiscard]] RunWork read_run_work(const std::filesystem::path& folder);

}  // namespace switchfold
