// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <functional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A simulation that yields one number.
struct NumberJob {
    std::string label;
    std::function<double(const JobProgress&)> run;
    double work = 1;  ///< about, against that of the others
};

/// Runs all jobs, each in its own process, the longest first, so that short ones fill the cores at
/// the end. \returns their numbers in the order of `jobs`. Throws the error of the first that
/// fails.
[[nodiscard]] std::vector<double>
run_number_jobs(const std::vector<NumberJob>& jobs, const SuiteOptions& options);

}  // namespace switchfold::validation
