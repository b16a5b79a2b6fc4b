// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/number_jobs.h"

#include "validation/harness/longest_first.h"
#include "validation/harness/suite_jobs.h"

namespace switchfold::validation {

std::vector<double>
run_number_jobs(const std::vector<NumberJob>& jobs, const SuiteOptions& options) {
    const std::vector<std::size_t> order =
        longest_first(jobs.size(), [&](std::size_t i) { return jobs[i].work; });
    std::vector<Job> all;
    for (const std::size_t i : order)
        all.push_back(
            {jobs[i].label,
             [&job = jobs[i]](const JobProgress& progress) {
                 return value_bytes(job.run(progress));
             },
             jobs[i].work});
    const auto numbers = values_of_suite<double>(all, options);
    std::vector<double> in_order(jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        in_order[order[i]] = numbers[i];
    return in_order;
}

}  // namespace switchfold::validation
