// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/changes/change.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold::changes {

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

/// Ranks that have a part in gradients and updates and compute none themselves: joiners, whose
/// gradient is zero. Their passes take no time.
void contribute_zero(ExecutionGraph& graph, const Members& joiners);

}  // namespace switchfold::changes
