// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <string>
#include <vector>

namespace switchfold::validation {

/// A kernel as one GPU runs it.
struct KernelOnGpu {
    std::string gpu;   ///< as in the table
    std::string kind;  ///< "bfloat16 products"
    std::string size;
    double measured = 0;   ///< seconds
    double simulated = 0;  ///< seconds
    bool fitted = false;   ///< constants may have been chosen on it
};

/// Adds the ratio of a kernel's times for every two GPUs that were measured with it: what a traced
/// kernel's time is multiplied by on another GPU. In the order of the rows.
void compare_gpu_ratios(const std::vector<KernelOnGpu>& kernels, SuiteResult& result);

}  // namespace switchfold::validation
