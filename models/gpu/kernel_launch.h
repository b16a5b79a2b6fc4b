// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/gpu.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// A graph's kernel as the GPU launches it; its end is told with `id`.
[[nodiscard]] KernelLaunch
launch_of(std::uint32_t id, const KernelOperation& kernel, std::int32_t priority);

}  // namespace switchfold
