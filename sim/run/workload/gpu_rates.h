// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "workloads/kernels/gpu_rates.h"

#include <string>

namespace switchfold {

/// What kernel times are computed from, of a GPU as its description states it.
[[nodiscard]] GpuRates gpu_rates(const GpuParams& gpu);

/// What a description lacks for kernel times, in words: "states no arithmetic/vector_rate". Empty
/// if nothing.
[[nodiscard]] std::string why_no_kernel_times(const GpuParams& gpu);

}  // namespace switchfold
