// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/config/training_params.h"
#include "training/network/network.h"
#include "workloads/graph/execution_graph.h"

#include <filesystem>

namespace switchfold {

/// The workload's network, read or computed. Paths are relative to `folder`. Throws ConfigError and
/// IoError for an unusable file.
[[nodiscard]] Network
network_of(const TrainingWorkloadParams& workload, const std::filesystem::path& folder);

/// The step on GPUs of this kind: matrix kernels at their matrix_rate, streaming ones at the
/// bandwidth of mixed streams. Paths are relative to `folder`. Throws ConfigError for an unusable
/// network, InternalError if the GPU states no matrix_rate.
[[nodiscard]] ExecutionGraph training_step(
    const TrainingWorkloadParams& workload, const GpuParams& gpu, std::uint32_t ranks,
    const std::filesystem::path& folder);

}  // namespace switchfold
