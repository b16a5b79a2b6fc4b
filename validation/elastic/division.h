// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A measured step on one GPU: a row `one_gpu_*` of elastic.csv.
struct OneGpuStep {
    std::string gpu;
    std::uint32_t batch = 0;  ///< samples
    double seconds = 0;
};

/// Divides 300 images over one GPU of each kind that the rows name. Compares the time of even
/// shares, of the best shares, and their ratio with values computed by hand. Greedy and exact
/// division must agree. Rows of fewer than three GPUs are unmatched.
void add_division(const std::vector<OneGpuStep>& rows, SuiteResult& result);

}  // namespace switchfold::validation
