// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/pool/value_jobs.h"
#include "validation/harness/suite.h"

#include <span>
#include <vector>

namespace switchfold::validation {

/// Runs jobs whose results are value_bytes(), as the suite's options say. \returns their values in
/// job order. Throws the error of a failed one.
template <class T>
std::vector<T> values_of_suite(std::span<const Job> jobs, const SuiteOptions& options) {
    return values_of<T>(jobs, [&](std::span<const Job> all, const JobEnded& ended) {
        run_jobs(all, options.jobs, options.progress, ended);
    });
}

}  // namespace switchfold::validation
