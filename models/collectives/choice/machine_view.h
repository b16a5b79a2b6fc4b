// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/peer_copies/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Layout of a group on a machine, and the resources for its collectives.
struct GroupView {
    GroupLayout layout;
    std::vector<std::vector<std::uint32_t>> rings;  ///< orders of positions
    std::vector<std::vector<std::uint32_t>> trees;  ///< parents of positions
    std::vector<ReduceTree> reduce_trees;           ///< for copies; computed on demand
    MachineView machine;
};
[[nodiscard]] GroupView
view_group(const Topology& topology, Bytes transfer_unit, const std::vector<std::uint32_t>& ranks);

/// Why an all-reduce over these ranks cannot use the algorithm; empty if it can.
[[nodiscard]] std::string
why_not(Algorithm algorithm, const Topology& topology, const std::vector<std::uint32_t>& ranks);

/// The same for any collective: switches must support the data type that they reduce.
[[nodiscard]] std::string why_not(
    Algorithm algorithm, CollectiveKind kind, Datatype datatype, const Topology& topology,
    const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
