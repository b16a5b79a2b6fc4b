// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

/// How far a run has come.
struct WorkerProgress {
    double share = 0;  ///< of all tasks
    std::uint64_t events = 0;
    double elapsed_s = 0;
};

}  // namespace switchfold
