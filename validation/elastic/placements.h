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

/// GPUs that a step uses on each machine, descending, since the machines are equal.
using GpusByMachine = std::vector<std::uint32_t>;

/// Parses AdaptDL's "1/3/4"; without a placement, divides the row's GPUs evenly over its machines.
/// Nothing if the numbers do not match.
[[nodiscard]] std::optional<GpusByMachine>
gpus_by_machine(const std::string& placement, std::uint32_t gpus, std::uint32_t machines);

/// Whether a row is a step time relative to one GPU, by placement.
[[nodiscard]] bool is_of_placement(const ElasticRow& row);

/// Compares data-parallel steps, with GPUs placed as stated, relative to the step of one GPU. Adds
/// cases, notes and unmatched rows.
void compare_placements(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
