// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/engine.h"
#include "models/collectives/shortcuts/rank_symmetry.h"
#include "models/fidelity.h"
#include "sim/config/experiment.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Sets of ranks that communicate among themselves, share no link with others, and do the same as
/// another such set on an equal part of the machine, which stands for them.
struct AlikeSets {
    RankSymmetry symmetry;
    std::vector<std::uint32_t> image_of_group;            ///< by group of the graph
    std::vector<std::vector<std::uint32_t>> represented;  ///< by kept rank; each by set

    /// The kept ranks' work; all others do nothing.
    [[nodiscard]] ExecutionGraph kept(const ExecutionGraph& graph) const;
    /// With those of represented ranks after each.
    [[nodiscard]] std::vector<CollectiveRecord>
    all(const std::vector<CollectiveRecord>& records) const;
};

/// A set with a link that is slower than its equals, or that makes errors, is simulated itself.
/// Nothing where no set stands for another, where sets may disturb each other in the tables of
/// switches or over a host's memory, and where a link goes down or a switch fails.
[[nodiscard]] std::optional<AlikeSets>
alike_sets_of(const SystemParams& system, const ExecutionGraph& graph, Fidelity fidelity);

}  // namespace switchfold
