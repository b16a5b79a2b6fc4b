// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/policies.h"
#include "models/collectives/choice/ring_fold.h"
#include "sim/run/config/experiment.h"
#include "sim/run/machine/outcome.h"

#include <optional>

namespace switchfold {

/// How a graph folds on a system: at least 32 ranks all do the same, and nothing but kernels and
/// the collectives of rings over all of them, on equal GPUs without faults. Nothing if it does not.
[[nodiscard]] std::optional<RingFold> fold_of(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies);

/// The graph of the kept ranks. \pre fold_of() it.
[[nodiscard]] ExecutionGraph folded_graph(const ExecutionGraph& graph, const RingFold& fold);

}  // namespace switchfold
