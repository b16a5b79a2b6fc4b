// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/parallel_plan.h"
#include "workloads/kernels/kernel_times.h"
#include "workloads/kernels/memory_kernel.h"

#include <string_view>
#include <vector>

namespace switchfold {

struct UpdateKernel {
    std::string_view name;
    MemoryKernel kernel;
};

/// The kernels that update `parameters` weights of a rank, in order. Unfused: Megatron-LM's
/// optimizer of 16-bit weights, whose moments and master weights have 32 bits
/// (megatron/optimizer/optimizer.py, with scaling of the loss). Clipping is left out: it scales
/// the gradients only in steps whose norm is too large.
[[nodiscard]] std::vector<UpdateKernel> update_kernels(const ParallelPlan& plan, double parameters);
/// Seconds that they take one after the other, alone on the GPU.
[[nodiscard]] double
update_seconds(const KernelTimes& times, const ParallelPlan& plan, double parameters);

}  // namespace switchfold
