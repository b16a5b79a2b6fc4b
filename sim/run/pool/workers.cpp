// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool/workers.h"

#include "sim/run/pool/outcome_codec.h"
#include "sim/run/pool/pool.h"

#include <cstddef>
#include <new>
#include <utility>

namespace switchfold {

std::vector<Outcome> run_tasks(
    std::span<const Task> tasks,
    unsigned jobs,
    const std::function<void(const WorkerProgress&)>& progress) {
    std::vector<Job> work;
    for (const Task& task : tasks)
        work.push_back({task.label, [&task](const JobProgress& report) {
                            SimulateOptions options = task.options;
                            options.progress = [&report](double share, std::uint64_t events) {
                                report(share, events);
                                return true;
                            };
                            const Outcome outcome = task.run(options);
                            report(1, outcome.events);
                            const std::vector<std::byte> bytes = encode(outcome);
                            return std::string(
                                reinterpret_cast<const char*>(bytes.data()), bytes.size());
                        }});
    std::vector<Outcome> outcomes(tasks.size());
    run_jobs(work, jobs, progress, [&](std::size_t job, JobResult result) {
        if (result.code != ExitCode::kDone)
            rethrow(work[job], result);
        outcomes[job] = decode(std::as_bytes(std::span(result.bytes)));
    });
    return outcomes;
}

std::vector<Outcome> run_tasks_here(
    std::span<const Task> tasks, const std::function<void(const WorkerProgress&)>& progress) {
    std::vector<Outcome> outcomes;
    std::uint64_t events = 0;
    for (const Task& task : tasks) {
        SimulateOptions options = task.options;
        if (progress)
            options.progress = [&](double share, std::uint64_t now) {
                progress(
                    {(static_cast<double>(outcomes.size()) + share) /
                         static_cast<double>(tasks.size()),
                     events + now,
                     0});
                return true;
            };
        try {
            Outcome outcome = task.run(options);
            events += outcome.events;
            outcomes.push_back(std::move(outcome));
        } catch (const std::bad_alloc&) {
            throw;  // of the process, not of the task
        } catch (const std::exception& error) {
            rethrow({task.label, {}}, {{}, exit_code(error), error.what()});
        }
    }
    return outcomes;
}

}  // namespace switchfold
