// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory_classes.h"
#include "models/gpu/parameters.h"
#include "sim/config/memory_check_params.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// What the fullest device needs: "71.2 GiB on device 1: weights 5.9, activations 65.3".
[[nodiscard]] std::string told_need(const std::vector<MemoryBytes>& devices);

/// Rejects plans that exceed the GPU's memory, suggesting the largest micro-batch that fits.
/// \returns the needs of the fullest device, in words; if memory is ignored, also what it lacks.
[[nodiscard]] std::string check_memory(
    const GpuParams& gpu, const ParallelPlan& plan, const std::vector<MemoryBytes>& devices,
    MemoryCheck check, PlanProblems& problems);

/// The largest micro-batch that fits the GPU on these devices, up to that of the plan or, for
/// most_samples(), to that of a file; 0 if not even one sample fits.
[[nodiscard]] std::uint32_t most_samples(
    const GpuParams& gpu, const ParallelPlan& plan, const std::vector<MemoryBytes>& devices);
[[nodiscard]] std::uint32_t largest_micro_batch(
    const GpuParams& gpu, const ParallelPlan& plan, const std::vector<MemoryBytes>& devices);

}  // namespace switchfold
