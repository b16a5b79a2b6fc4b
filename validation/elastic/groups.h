// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/elastic/elastic_row.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <vector>

namespace switchfold::validation {

/// Ranks in groups of `size`: contiguous, or strided with every (ranks / size)-th rank in a group.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
groups_of(std::uint32_t ranks, std::uint32_t size, bool strided);

/// Whether a row is a set of concurrent all-reduces of groups.
[[nodiscard]] bool is_of_groups(const ElasticRow& row);

/// Compares all-reduces of contiguous and strided groups, all groups at once. Rows name neither
/// machine nor size, so only the ratio of a group's bandwidth to that of all GPUs together is
/// compared. Adds cases, notes and unmatched rows.
void compare_groups(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
