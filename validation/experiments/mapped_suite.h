// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/experiments/measured_experiments.h"
#include "validation/harness/suite.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A suite whose rows a map of the repository makes experiments of.
struct MappedSuite {
    std::string_view map;     ///< relative to the repository
    std::string_view beside;  ///< another table of a folder of measurements; empty: none
    bool instead = false;     ///< it counts only if the suite's own has no row of the map
};

/// The rows of a table by a map of the repository. Lines that cannot be read go to `result`.
[[nodiscard]] std::vector<MeasuredExperiment> mapped_rows(
    const std::filesystem::path& table, std::string_view map, const SuiteOptions& options,
    SuiteResult& result);

/// Compares the rows of the suite's tables. Reasons of rows that are left out begin with no line:
/// they are told by their ids. `compared`, if given, receives all rows.
[[nodiscard]] SuiteResult run_mapped(
    const Suite& suite, const MappedSuite& mapped, const SuiteOptions& options,
    std::vector<MeasuredExperiment>* compared = nullptr);

}  // namespace switchfold::validation
