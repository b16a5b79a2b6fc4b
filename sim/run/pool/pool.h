// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/error.h"
#include "sim/run/pool/progress.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// One piece of work for a process of its own. What it returns travels back as bytes.
struct Job {
    std::string label;
    std::function<std::string(const JobProgress&)> run;
};

/// A job's result: bytes, or an error and the exit code of its type.
struct JobResult {
    std::string bytes;
    ExitCode code = ExitCode::kDone;
    std::string error;
};

/// Number, reuse and memory limit of the workers.
struct PoolOptions {
    unsigned processes = 1;
    bool reuse = false;            ///< a worker runs one job after another, not one and an end
    std::uint64_t most_bytes = 0;  ///< of data a worker may allocate; 0: as many as there are
};

/// Runs jobs in forked processes, at most `processes` at a time; each sees the parent's memory as
/// it is at its start. `ended` is called in the parent for each job as it ends, in any order; if it
/// throws, the jobs still under way are killed and the exception passes through. A worker that dies
/// is a failed job (kUnfinished) that names the signal; so is one that needs more memory than it
/// may have. Workers die with their parent.
void run_jobs(
    std::span<const Job> jobs,
    const PoolOptions& options,
    const std::function<void(const WorkerProgress&)>& progress,
    const std::function<void(std::size_t job, JobResult result)>& ended);
inline void run_jobs(
    std::span<const Job> jobs,
    unsigned processes,
    const std::function<void(const WorkerProgress&)>& progress,
    const std::function<void(std::size_t job, JobResult result)>& ended) {
    run_jobs(jobs, PoolOptions{processes, false, 0}, progress, ended);
}

/// Runs jobs one after another in this process, for a caller that is a worker itself. A job's error
/// is its result, as in run_jobs(); only std::bad_alloc passes through, since the memory is the
/// process's.
void run_jobs_here(
    std::span<const Job> jobs,
    const std::function<void(const WorkerProgress&)>& progress,
    const std::function<void(std::size_t job, JobResult result)>& ended);

/// Throws a failed job's error here, with its type and the job's label.
[[noreturn]] void rethrow(const Job& job, const JobResult& result);

}  // namespace switchfold
