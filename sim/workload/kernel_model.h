// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_times.h"

#include <filesystem>
#include <string>

namespace switchfold {

/// The inputs of kernel-time models, from a GPU's description.
[[nodiscard]] GpuRates gpu_rates(const GpuParams& gpu);

/// What a description lacks for kernel times: "states no arithmetic/vector_rate". Empty if nothing.
[[nodiscard]] std::string why_no_kernel_times(const GpuParams& gpu);

/// Kernel times of a GPU: from the model, or measured ones from `table` (relative to `folder`;
/// empty: none). Throws ConfigError if the table is invalid, InternalError if why_no_kernel_times()
/// is not empty.
[[nodiscard]] KernelTimes
kernel_times(const GpuParams& gpu, const std::string& table, const std::filesystem::path& folder);

}  // namespace switchfold
