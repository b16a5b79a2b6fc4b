// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace switchfold {

/// Reports a job's progress: its share from 0 to 1, and the events so far.
using JobProgress = std::function<void(double share, std::uint64_t events)>;

/// Progress of several jobs.
struct WorkerProgress {
    double share = 0;  ///< of all jobs
    std::uint64_t events = 0;
    double elapsed_s = 0;
    bool preparing = false;  ///< simulations that the workload needs before its scenarios can run
};

}  // namespace switchfold
