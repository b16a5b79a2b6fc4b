// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/policies.h"
#include "models/collectives/shortcuts/rank_symmetry.h"
#include "models/fidelity.h"
#include "sim/config/experiment.h"
#include "sim/machine/outcome.h"

#include <optional>

namespace switchfold {

/// How a graph folds on a system. All ranks do the same, on equal GPUs without faults: nothing but
/// kernels, and collectives over all of them. These are rings, exchanges or long collectives
/// through the switches of a domain, of at least 32 ranks, or of 8 with 256 MiB and more in all;
/// also trees over machines, with or without all-reduces in the switches of each, if `fidelity` is
/// fast, or if it is auto, the fold is near enough and ranks are at least 32. Nothing if it does
/// not fold.
[[nodiscard]] std::optional<RankSymmetry> fold_of(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    Fidelity fidelity);

/// The graph of the kept ranks. \pre fold_of() it, or fold_of_groups().
[[nodiscard]] ExecutionGraph folded_graph(const ExecutionGraph& graph, const RankSymmetry& fold);

}  // namespace switchfold
