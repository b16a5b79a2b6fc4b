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

/// Divides 300 images over one GPU of each kind that the rows name, as elastic.md, section 3 does:
/// the time of equal shares, of the best ones, and how many times as long equal ones take, beside
/// what was worked out there by hand. Greedy division and the exact programme have to agree. Rows
/// of fewer than three GPUs are unmatched.
void add_division(const std::vector<OneGpuStep>& rows, SuiteResult& result);

}  // namespace switchfold::validation
