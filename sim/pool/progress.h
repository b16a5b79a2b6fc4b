// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace switchfold {

/// Reports a job's progress: its share from 0 to 1, and the events so far.
using JobProgress = std::function<void(double share, std::uint64_t events)>;

/// What jobs of an experiment do.
enum class WorkPhase : std::uint8_t {
    kPreparing,  ///< simulations that the workload needs before its scenarios can run
    kSimulating,
    kLearning,  ///< trainings of small networks along the simulated times
};

/// Progress of several jobs.
struct WorkerProgress {
    double share = 0;  ///< of all jobs
    std::uint64_t events = 0;
    double elapsed_s = 0;
    WorkPhase phase = WorkPhase::kSimulating;
};

}  // namespace switchfold
