// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/host_costs.h"
#include "validation/elastic/elastic_row.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <filesystem>
#include <vector>

namespace switchfold::validation {

/// Costs of configs/costs, by file name.
[[nodiscard]] elastic::HostCosts
shipped_costs(const std::filesystem::path& root, const std::string& name);

/// Whether a row states the time of a change, a checkpoint or a communicator.
[[nodiscard]] bool is_change_time(const ElasticRow& row);

/// Compares times of changes, checkpoints and communicators. Parameters come from configs/costs for
/// all rows; bytes and broadcasts are computed and simulated. Adds cases and unmatched rows.
void compare_change_times(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
