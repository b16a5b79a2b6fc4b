// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"

#include <chrono>

namespace switchfold {

/// Host resources used by a run since this object's construction.
class HostClock {
public:
    void tell(HostResult& out) const;

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace switchfold
