// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/elastic/elastic_row.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// GPUs that a step takes of each machine, in falling order: the machines are alike.
using GpusByMachine = std::vector<std::uint32_t>;

/// "1/3/4" as AdaptDL writes it; without that the row's GPUs in equal parts over its machines.
/// Nothing if the two do not fit each other.
[[nodiscard]] std::optional<GpusByMachine>
gpus_by_machine(const std::string& placement, std::uint32_t gpus, std::uint32_t machines);

/// Whether a row is a step over the same on one GPU, by placement.
[[nodiscard]] bool is_of_placement(const ElasticRow& row);

/// Data-parallel steps of the rows, GPUs where the placement has them, over the step of one GPU.
/// Adds cases, notes and unmatched rows.
void compare_placements(
    const std::vector<ElasticRow>& rows,
    const Machines& machines,
    const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
