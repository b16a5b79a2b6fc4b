// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "models/collectives/choice/refusal.h"
#include "models/collectives/experts/choice.h"
#include "sim/config/experiment.h"
#include "sim/kinds/experts/experts_params.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>

namespace switchfold {

/// A dispatch, a combine, or both in sequence, over all of `ranks` ranks. Their bytes are those
/// that the busiest rank sends or receives, including its own tokens, with one copy for each rank
/// that needs a token.
[[nodiscard]] ExecutionGraph
experts_step(ExpertsOperation operation, const ExpertExchange& exchange, std::uint32_t ranks);

/// The workload's exchange; `seed` is the experiment's.
[[nodiscard]] ExpertExchange exchange_of(const ExpertsWorkloadParams& workload, std::uint64_t seed);

/// Properties of the system that exchanges depend on. `topology` is the system's.
[[nodiscard]] ExpertsMachine
experts_machine(const SystemParams& system, const Topology& topology, std::uint32_t ranks);

/// Whether the system cannot run an exchange, and why not.
[[nodiscard]] Refusal
refused_exchange(const SystemParams& system, const Topology& topology, const ExpertsCall& exchange);

}  // namespace switchfold
