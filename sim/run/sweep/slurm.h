// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/sweep/sweep.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// How a sweep is spread over a cluster.
struct SlurmOptions {
    std::filesystem::path program;          ///< this one, as the nodes see it
    unsigned tasks = 16;                    ///< of a job array; points are shared out among them
    std::vector<std::string> arguments;     ///< of sbatch: partition, account, time
    std::filesystem::path prologue;         ///< shell lines before each task; empty: none
    std::chrono::milliseconds poll{2'000};  ///< between two looks at the queue
    /// The program's words that run a task's share of the points, which --out, --points and --jobs
    /// follow. None: the sweep's own.
    std::vector<std::string> command;
};

/// Runs what is missing as job arrays. Each task is a sweep of its own over its share of the
/// points, in a folder below `out`; what it has done is taken over while it runs. Points that a
/// task did not come to (killed, out of time) are submitted again as long as a round brings some.
/// Throws ConfigError if Slurm refuses.
[[nodiscard]] SweepSummary
run_sweep_by_slurm(const SweepPlan& plan, const SweepOptions& options, const SlurmOptions& slurm);

}  // namespace switchfold
