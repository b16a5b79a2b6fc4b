// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <span>

namespace switchfold::chakra {

/// Marks those of `kernels` (operations of the rank) that ran beside collectives or messages: their
/// durations are not those alone. A node states no launch shape, so kernels of one name may do
/// different work, and none stands for another. \pre `measured` holds each operation's span.
void mark_kernels_beside_collectives(
    RankGraph& graph, std::span<const std::uint32_t> kernels,
    const BigVector<TraceWorkload::Measured>& measured);

}  // namespace switchfold::chakra
