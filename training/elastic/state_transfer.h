// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/change.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace switchfold::elastic {

/// Name of the operations that carry state.
inline constexpr std::string_view kStateTransfer = "state of a member";

/// How joiners receive the state.
enum class Transfer : std::uint8_t {
    kRing,      ///< one member sends; joiners forward it in chunks (NCCL's broadcast)
    kTree,      ///< one member sends; every rank with the whole state sends it on
    kScatter,   ///< every old member sends its part to every joiner
    kInSwitch,  ///< one member sends; the switches replicate (copy engines, multicast)
};

/// Adds the transfer of `state` from old members to joiners, on separate streams from the step's
/// begin on. Updates of senders and receivers wait for it: weights are constant until then. Ranks
/// of `graph` are GPUs.
void add_transfer(
    ExecutionGraph& graph, const Members& old_members, const Members& joiners, Transfer transfer,
    Bytes state);

/// Bytes that move from one GPU to another.
struct StatePiece {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Bytes bytes;
    bool operator==(const StatePiece&) const = default;
};
/// Where equal parts of `bytes` move when GPUs divide them that are not those which did before.
[[nodiscard]] std::vector<StatePiece>
divided_anew(const Members& before, const Members& after, Bytes bytes);
/// Adds them, all at once, as add_transfer() does.
void add_pieces(ExecutionGraph& graph, const std::vector<StatePiece>& pieces);

/// A graph for moves that run beside nothing else.
[[nodiscard]] ExecutionGraph moves_alone();
/// The transfer alone.
[[nodiscard]] ExecutionGraph
transfer_alone(const Members& old_members, const Members& joiners, Transfer transfer, Bytes state);

/// Adds copies of parts of the state to the members' hosts, as add_transfer() does: from the step's
/// begin on, with the copying members' updates waiting for them. Zero bytes: no copy.
void add_copies_to_host(
    ExecutionGraph& graph, const Members& members, const std::vector<Bytes>& parts);

/// Makes joiners contribute a gradient of zero: they take part in gradients and updates, but their
/// passes take no time, and they exchange nothing among themselves alone.
void contribute_zero(ExecutionGraph& graph, const Members& joiners);

}  // namespace switchfold::elastic
