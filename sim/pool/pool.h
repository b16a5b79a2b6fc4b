// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "sim/pool/progress.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// A piece of work for a separate process. Its result is returned as bytes.
struct Job {
    std::string label;
    std::function<std::string(const JobProgress&)> run;
    double work = 1;  ///< against that of the other jobs, for the progress of all; above 0
};

/// A job's result: bytes, or an error with the exit code of its type.
struct JobResult {
    std::string bytes;
    ExitCode code = ExitCode::kDone;
    std::string error;
    bool out_of_time = false;  ///< ended by PoolOptions::most_seconds
};

/// Receives the results of jobs as they end, in any order.
using JobEnded = std::function<void(std::size_t job, JobResult result)>;
/// Runs jobs as run_jobs() does. Whoever gives it has chosen where, and who is told.
using RunJobs = std::function<void(std::span<const Job> jobs, const JobEnded& ended)>;

/// Number, reuse and limits of the workers.
struct PoolOptions {
    unsigned processes = 1;
    bool reuse = false;            ///< workers run several jobs in turn instead of one each
    std::uint64_t most_bytes = 0;  ///< limit on the data that a worker may allocate; 0: unlimited
    /// Limit on a worker's processor time, so that a busy machine changes nothing; 0: unlimited.
    /// For workers that run one job each.
    std::uint32_t most_seconds = 0;
};

/// Runs jobs in forked processes, at most `processes` at a time; each sees the parent's memory as
/// of its start. `ended` is called in the parent as each job ends, in any order; if it throws,
/// running jobs are killed and the exception propagates. A worker that dies is a failed job
/// (kUnfinished) naming the signal; so is one that exceeds its limit of memory or time. Workers die
/// with their parent.
void run_jobs(
    std::span<const Job> jobs, const PoolOptions& options,
    const std::function<void(const WorkerProgress&)>& progress, const JobEnded& ended);
inline void run_jobs(
    std::span<const Job> jobs, unsigned processes,
    const std::function<void(const WorkerProgress&)>& progress, const JobEnded& ended) {
    run_jobs(jobs, PoolOptions{processes, false, 0}, progress, ended);
}

/// Runs jobs in sequence in this process, for a caller that is a worker itself. A job's error
/// becomes its result, as in run_jobs(); only std::bad_alloc propagates, because the memory limit
/// applies to the process.
void run_jobs_here(
    std::span<const Job> jobs, const std::function<void(const WorkerProgress&)>& progress,
    const JobEnded& ended);

/// The same, and tells nobody.
void run_jobs_quietly(std::span<const Job> jobs, const JobEnded& ended);

/// Rethrows a failed job's error with its type and the job's label.
[[noreturn]] void rethrow(const Job& job, const JobResult& result);

}  // namespace switchfold
