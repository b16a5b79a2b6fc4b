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

/// How a group lies on a machine and what its collectives can use of it.
struct GroupView {
    GroupLayout layout;
    std::vector<std::vector<std::uint32_t>> rings;  ///< orders of positions
    std::vector<std::vector<std::uint32_t>> trees;  ///< parents of positions
    std::vector<ReduceTree> reduce_trees;           ///< of copies; empty until asked for
    MachineView machine;
};
[[nodiscard]] GroupView
view_group(const Topology& topology, Bytes transfer_unit, const std::vector<std::uint32_t>& ranks);

/// Why an all-reduce over these ranks cannot run by the algorithm; empty if it can.
[[nodiscard]] std::string
why_not(Algorithm algorithm, const Topology& topology, const std::vector<std::uint32_t>& ranks);

/// The same of any collective: what switches add must be of a type that they know.
[[nodiscard]] std::string why_not(
    Algorithm algorithm,
    CollectiveKind kind,
    Datatype datatype,
    const Topology& topology,
    const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
