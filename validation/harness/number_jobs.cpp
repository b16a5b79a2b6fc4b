// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/number_jobs.h"

#include "sim/pool/value_jobs.h"

namespace switchfold::validation {

std::vector<double>
run_number_jobs(const std::vector<NumberJob>& jobs, const SuiteOptions& options) {
    std::vector<Job> all;
    for (const NumberJob& job : jobs)
        all.push_back({job.label, [&job](const JobProgress& progress) {
                           return value_bytes(job.run(progress));
                       }});
    return values_of<double>(all, [&](std::span<const Job> started, const JobEnded& ended) {
        run_jobs(started, options.jobs, options.progress, ended);
    });
}

}  // namespace switchfold::validation
