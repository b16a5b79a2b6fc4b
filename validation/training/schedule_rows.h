// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <filesystem>

namespace switchfold::validation {

/// Compares bubble shares for given times of passes, and counts for schedules, with the authors'
/// results. Adds cases, unmatched rows and verdicts. Columns: id, schedule, stages, micro_batches,
/// chunks, stage, t_f_ms, t_b_ms, t_w_ms, t_comm_ms, quantity, value, kind.
void compare_schedules(const std::filesystem::path& table, SuiteResult& result);

}  // namespace switchfold::validation
