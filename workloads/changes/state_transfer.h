// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/changes/change.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace switchfold::changes {

/// Name of the operations that carry state.
inline constexpr std::string_view kStateTransfer = "state of a member";

/// How state comes to joiners.
enum class Transfer : std::uint8_t {
    kRing,      ///< one member sends, joiners pass it on in chunks (NCCL's broadcast)
    kTree,      ///< one member sends, whoever has it whole sends it too
    kScatter,   ///< every old member sends its part to every joiner
    kInSwitch,  ///< one member sends, the switches copy (copy engines, multicast)
};

/// Adds the transfer of `state` from old members to joiners, on streams of their own, from the
/// begin of the step on. The updates of who sends or receives wait for it: weights are constant
/// until then. Ranks of `graph` are GPUs.
void add_transfer(
    ExecutionGraph& graph,
    const Members& old_members,
    const Members& joiners,
    Transfer transfer,
    Bytes state);

/// The transfer and nothing else.
[[nodiscard]] ExecutionGraph
transfer_alone(const Members& old_members, const Members& joiners, Transfer transfer, Bytes state);

/// Adds copies of parts of the state to the hosts of members, as add_transfer() does: from the
/// begin of the step on, and the updates of who copies wait for them. No bytes: no copy.
void add_copies_to_host(
    ExecutionGraph& graph, const Members& members, const std::vector<Bytes>& parts);

/// Ranks that have a part in gradients and updates and compute none themselves: joiners, whose
/// gradient is zero. Their passes take no time.
void contribute_zero(ExecutionGraph& graph, const Members& joiners);

}  // namespace switchfold::changes
