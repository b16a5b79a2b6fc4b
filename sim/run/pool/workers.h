// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/simulate.h"
#include "sim/run/pool/progress.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// One simulation to be run in a process of its own.
struct Task {
    std::string label;
    std::function<Outcome(const SimulateOptions&)> run;
    SimulateOptions options;
};

/// Runs tasks in forked processes, at most `jobs` at a time, and returns their outcomes in the
/// order of the tasks. An error in a worker is thrown here with its type; a worker that dies is a
/// SimulationError naming the signal. With one job and one task it still forks: a process never
/// runs two SystemC kernels at once.
[[nodiscard]] std::vector<Outcome> run_tasks(
    std::span<const Task> tasks,
    unsigned jobs,
    const std::function<void(const WorkerProgress&)>& progress);

/// Runs tasks one after another in this process, for callers that are a worker themselves. Errors
/// are those of run_tasks().
[[nodiscard]] std::vector<Outcome> run_tasks_here(
    std::span<const Task> tasks, const std::function<void(const WorkerProgress&)>& progress);

}  // namespace switchfold
