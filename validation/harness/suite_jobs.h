// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/pool/value_jobs.h"
#include "validation/harness/longest_first.h"
#include "validation/harness/suite.h"

#include <span>
#include <utility>
#include <vector>

namespace switchfold::validation {

/// Runs jobs whose results are value_bytes(), each in its own process, as the suite's options say,
/// the longest first, so that short ones fill the cores at the end. \returns their values in job
/// order. Throws the error of the first that fails.
template <class T>
std::vector<T> values_of_suite(std::span<const Job> jobs, const SuiteOptions& options) {
    const auto order = longest_first(jobs.size(), [&](std::size_t i) { return jobs[i].work; });
    std::vector<Job> ordered;
    for (const std::size_t i : order)
        ordered.push_back(jobs[i]);
    std::vector<T> done =
        values_of<T>(ordered, [&](std::span<const Job> all, const JobEnded& ended) {
            run_jobs(all, options.jobs, options.progress, ended);
        });
    std::vector<T> values(jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        values[order[i]] = std::move(done[i]);
    return values;
}

}  // namespace switchfold::validation
