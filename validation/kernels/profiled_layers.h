// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/kernels/kernel_gpus.h"

namespace switchfold::validation {

/// Adds the times of networks' layers from PipeDream's published profiles (one GPU that is not
/// named, assumed to be a V100; 32 bits), summed over their convolutions, their dense layers and
/// the rest, forward and backward. They are shown, not judged. Does nothing without the profiles.
void compare_profiled_layers(
    const SuiteOptions& options, const KernelGpus& gpus, SuiteResult& result);

}  // namespace switchfold::validation
