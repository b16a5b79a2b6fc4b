// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/chakra/node.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace switchfold::chakra {

/// An order of the nodes in which each stands behind what it depends on; of those that may be next,
/// the one that started first. Control dependencies join the data ones, unless they close circles
/// where these do not: traces that were converted from PyTorch in 2023 name parents there by the
/// numbers that nodes had before. Then they are left out, and the report says so. Dependencies on
/// nodes that are not there are dropped and counted in the report. Throws ConfigError with the
/// names of the nodes if some depend on each other in a circle. `position` gives a node's index by
/// its id.
[[nodiscard]] std::vector<std::size_t> order_of(
    std::vector<Node>& nodes,
    const std::unordered_map<std::uint64_t, std::size_t>& position,
    TraceFileReport& report);

}  // namespace switchfold::chakra
