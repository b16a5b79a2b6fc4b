// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace switchfold {

/// Tells how far a job is: share of the job from 0 to 1, events so far.
using JobProgress = std::function<void(double share, std::uint64_t events)>;

/// How far a run of several jobs is.
struct WorkerProgress {
    double share = 0;  ///< of all jobs
    std::uint64_t events = 0;
    double elapsed_s = 0;
};

}  // namespace switchfold
