// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_times.h"

#include <filesystem>
#include <string>

namespace switchfold {

/// What kernel times are computed from, of a GPU as its description states it.
[[nodiscard]] GpuRates gpu_rates(const GpuParams& gpu);

/// What a description lacks for kernel times, in words: "states no arithmetic/vector_rate". Empty
/// if nothing.
[[nodiscard]] std::string why_no_kernel_times(const GpuParams& gpu);

/// Times of a GPU's kernels: the model's, or with `table` (relative to `folder`; empty: none) the
/// measured ones. Throws ConfigError if the table is wrong, InternalError for a GPU that lacks what
/// why_no_kernel_times() says.
[[nodiscard]] KernelTimes
kernel_times(const GpuParams& gpu, const std::string& table, const std::filesystem::path& folder);

}  // namespace switchfold
