// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"

#include <chrono>

namespace switchfold {

/// What a run takes of the host, from when this is made.
class HostClock {
public:
    void tell(HostResult& out) const;

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace switchfold
