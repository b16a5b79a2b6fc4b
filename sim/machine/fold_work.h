// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/fidelity.h"
#include "sim/config/experiment.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace switchfold {

/// The collectives of a rank each of whose operations needs nothing but its GPU, or is a collective
/// of a group that `admits` takes: one of each kind, size and data type. Nothing of other ranks.
[[nodiscard]] std::optional<std::vector<CollectiveOperation>>
collectives_of(const RankGraph& rank, const std::function<bool(std::uint32_t group)>& admits);

/// Whether ranks may stand for others: on equal GPUs without faults, in a network without queues of
/// its own, unless all is to be simulated.
[[nodiscard]] bool ranks_may_fold(const SystemParams& system, Fidelity fidelity);

/// Whether it takes long to simulate so many ranks with such collectives: few ranks take little
/// time, unless each has much to tell the others.
[[nodiscard]] bool takes_long(std::size_t ranks, const RankGraph& rank);

}  // namespace switchfold
