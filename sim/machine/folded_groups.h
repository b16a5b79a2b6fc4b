// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/policies.h"
#include "models/collectives/shortcuts/rank_symmetry.h"
#include "models/fidelity.h"
#include "sim/config/experiment.h"
#include "workloads/graph/execution_graph.h"

#include <optional>

namespace switchfold {

/// How a graph folds whose ranks are of several groups that do the same at the same time, or of one
/// while others are idle: each rank has nothing but kernels and collectives of its group, which are
/// rings over machines, in equal places of each. So do replicas' gradients beside other parts of
/// the same layers. A few machines are kept. Nothing if it does not fold.
[[nodiscard]] std::optional<RankSymmetry> fold_of_groups(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    Fidelity fidelity);

}  // namespace switchfold
