// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/chakra/node.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace switchfold::chakra {

/// A topological order of the nodes; among nodes that are ready, the one with the earliest start
/// goes first. Control dependencies count like data dependencies unless they add cycles: traces
/// converted from PyTorch in 2023 refer to parents by node numbers that are no longer valid. In
/// that case control dependencies are ignored, and the report says so. Dependencies on missing
/// nodes are dropped and counted in the report. Throws ConfigError with the nodes' names if data
/// dependencies form a cycle. `position` maps a node's id to its index.
[[nodiscard]] std::vector<std::size_t> order_of(
    std::vector<Node>& nodes, const std::unordered_map<std::uint64_t, std::size_t>& position,
    TraceFileReport& report);

}  // namespace switchfold::chakra
