// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <string>

namespace switchfold::validation {

/// Digests of all files that a suite may read: measurements, systems, maps. Limits are not among
/// them: results are judged after they were taken. Made once for all suites of a run. Throws
/// ConfigError for a system that is wrong, IoError or filesystem_error if a file cannot be read.
[[nodiscard]] std::string digest_of_inputs(const SuiteOptions& options);

/// Runs a suite, or takes its result from what an earlier run of this program kept for the same
/// inputs. A suite that keeps its rows does so itself.
[[nodiscard]] SuiteResult
run_or_take(const Suite& suite, const SuiteOptions& options, const std::string& inputs);

}  // namespace switchfold::validation
