// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/run/config/training_params.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/network/network.h"

#include <filesystem>

namespace switchfold {

/// The workload's network, read or computed. `folder` is what paths are relative to. Throws
/// ConfigError and IoError for a file that cannot be used.
[[nodiscard]] Network
network_of(const TrainingWorkloadParams& workload, const std::filesystem::path& folder);

/// The step as such GPUs run it: matrix kernels at their matrix_rate, streaming ones at the
/// bandwidth that mixed streams reach. `folder` is what paths are relative to. Throws
/// ConfigError for a network that cannot be used, InternalError if the GPU states no matrix_rate.
[[nodiscard]] ExecutionGraph training_step(
    const TrainingWorkloadParams& workload,
    const GpuParams& gpu,
    std::uint32_t ranks,
    const std::filesystem::path& folder);

}  // namespace switchfold
