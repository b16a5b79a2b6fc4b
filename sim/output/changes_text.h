// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"

#include <string>
#include <string_view>

namespace switchfold {

/// Cost of changes in each scenario, one row per change, and steps that copy state to hosts; empty
/// if there are none. Totals of the runs are figures of the scenarios.
[[nodiscard]] std::string changes_table(const ExperimentResult& result);

/// Header line of changes.csv, and one line.
[[nodiscard]] std::string changes_csv_header();
[[nodiscard]] std::string changes_csv_line(std::string_view scenario, const ChangeResult& change);
/// Header line of members.csv, and one line.
[[nodiscard]] std::string members_csv_header();
[[nodiscard]] std::string
members_csv_line(std::string_view scenario, const RunStretchResult& stretch);

}  // namespace switchfold
