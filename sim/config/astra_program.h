// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/astra_network.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Whether collectives of this kind run along dimensions.
[[nodiscard]] constexpr bool runs_along_dimensions(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kAllGather;
}
/// A program (docs/programs.md) of such a collective, each dimension a ring. A reduce-scatter goes
/// from the first dimension to the last, an all-gather back, as in ASTRA-sim; an all-reduce is one
/// along the last between reduce-scatters and all-gathers along the others.
[[nodiscard]] OrderedJson dimension_program(const AstraNetwork& network, CollectiveKind kind);

}  // namespace switchfold
