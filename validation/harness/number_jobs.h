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
};

/// Runs all jobs, each in its own process. Throws the error of the first that fails.
[[nodiscard]] std::vector<double>
run_number_jobs(const std::vector<NumberJob>& jobs, const SuiteOptions& options);

}  // namespace switchfold::validation
