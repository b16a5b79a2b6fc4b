// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/elastic/elastic_row.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <vector>

namespace switchfold::validation {

/// Ranks in groups of `size`: neighbours, or strided, so that rank 0's group has every
/// (ranks / size)-th one.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
groups_of(std::uint32_t ranks, std::uint32_t size, bool strided);

/// Whether a row is an all-reduce of groups beside each other.
[[nodiscard]] bool is_of_groups(const ElasticRow& row);

/// All-reduces of groups of neighbours and of strided groups, all groups at once. The rows name
/// neither machine nor size, so only a group's bandwidth over that of all GPUs together is
/// compared. Adds cases, notes and unmatched rows.
void compare_groups(
    const std::vector<ElasticRow>& rows,
    const Machines& machines,
    const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
