// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/elastic/elastic_row.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"
#include "workloads/changes/host_costs.h"

#include <filesystem>
#include <vector>

namespace switchfold::validation {

/// Costs of configs/costs, by file name.
[[nodiscard]] changes::HostCosts
shipped_costs(const std::filesystem::path& root, const std::string& name);

/// Whether a row states what a change or a part of one takes.
[[nodiscard]] bool is_change_time(const ElasticRow& row);

/// Times of changes, checkpoints and communicators. Parameters are those of configs/costs, whatever
/// the row; bytes and broadcasts are computed and simulated. Adds cases, unmatched rows, verdicts
/// and notes.
void compare_change_times(
    const std::vector<ElasticRow>& rows,
    const Machines& machines,
    const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
