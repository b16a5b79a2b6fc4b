// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/kernels/kernel_gpus.h"

namespace switchfold::validation {

/// Adds published rates of FlashAttention's generations (reference/flash_attention.csv), which
/// count 4 operations a score and element of a head, half of the scores if they are causal. Does
/// nothing without the table. Throws ConfigError if it is wrong.
void compare_flash_attention(
    const SuiteOptions& options, const KernelGpus& gpus, SuiteResult& result);

}  // namespace switchfold::validation
