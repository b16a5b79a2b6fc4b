// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "validation/harness/suite.h"

#include <filesystem>

namespace switchfold::validation {

/// Whether a row of schedules states what a network learnt by a method.
[[nodiscard]] bool states_learning(const CsvRecord& row);

/// Compares which of two methods learns better. Published accuracies are of other networks than the
/// small one whose training follows the simulated times (docs/learning.md), so that only the order
/// of two methods can be compared: a case is two rows of one network and one number of stages whose
/// accuracies differ by more than runs of one method do. It is 1 as measured, and -1 if the small
/// network's mean loss is lower by the other method. The methods are the scenarios of
/// validation/maps/learning_orders.json. Adds cases and unmatched rows.
void compare_learning(
    const std::filesystem::path& table, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
