// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/sweep/sweep.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// How a sweep is distributed over a cluster.
struct SlurmOptions {
    std::filesystem::path program;          ///< this program, as seen by the nodes
    unsigned tasks = 16;                    ///< size of a job array; points are divided among tasks
    std::vector<std::string> arguments;     ///< for sbatch: partition, account, time
    std::filesystem::path prologue;         ///< shell lines that precede each task; empty: none
    std::chrono::milliseconds poll{2'000};  ///< interval between queries of the queue
    /// Words by which the program runs a task's share of the points; --out, --points and --jobs are
    /// appended. None: the sweep's own command.
    std::vector<std::string> command;
};

/// Runs missing points as job arrays. Each task is a sweep over its share of the points, in a
/// folder below `out`; its results are imported while it runs. Points that a task did not reach
/// (killed, out of time) are resubmitted as long as a round yields results. Throws ConfigError if
/// Slurm refuses.
[[nodiscard]] SweepSummary
run_sweep_by_slurm(const SweepPlan& plan, const SweepOptions& options, const SlurmOptions& slurm);

}  // namespace switchfold
