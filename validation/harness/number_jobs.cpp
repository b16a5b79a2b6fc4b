// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/number_jobs.h"

#include "sim/core/json.h"
#include "sim/run/pool/pool.h"

namespace switchfold::validation {

std::vector<double>
run_number_jobs(const std::vector<NumberJob>& jobs, const SuiteOptions& options) {
    std::vector<Job> all;
    for (const NumberJob& job : jobs)
        all.push_back({job.label, [&job](const JobProgress& progress) {
                           return OrderedJson(job.run(progress)).dump();
                       }});
    std::vector<double> numbers(jobs.size());
    run_jobs(all, options.jobs, options.progress, [&](std::size_t job, const JobResult& done) {
        if (done.code != ExitCode::kDone)
            rethrow(all[job], done);
        numbers[job] = OrderedJson::parse(done.bytes).get<double>();
    });
    return numbers;
}

}  // namespace switchfold::validation
