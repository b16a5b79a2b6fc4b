// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Ranks that do the same, so that one order suits all of them.
struct RanksAlike {
    std::uint32_t first = 0;  ///< names them in messages
    const RankGraph* graph = nullptr;
};

/// Ranks that share a graph are alike, unless it holds messages: those name the rank's own peers.
/// `alike_of`, if not null, becomes the index of each rank's entry.
[[nodiscard]] std::vector<RanksAlike>
ranks_alike(const ExecutionGraph& graph, std::vector<std::size_t>* alike_of = nullptr);

/// When a send may end.
enum class Sends : std::uint8_t {
    kMeetTheirReceives,  ///< with its receive, as a large one does
    kAreBuffered,        ///< before its receive, as a small one may
};

/// An order for each entry of `ranks`, such that all run through if each runs its operations in
/// that order: a collective is taken when all its ranks can take it, a message when both its ranks
/// can. Within a rank the order is that of SerialOrder. Parts are matched by (group, sequence),
/// messages by sender, receiver, tag and count; a part that is missing is not waited for. Nothing
/// if there is no such order: then `why` names some that wait for each other.
[[nodiscard]] std::optional<std::vector<std::vector<std::uint32_t>>> common_order(
    const std::vector<RanksAlike>& ranks, const std::vector<Group>& groups, Sends sends,
    std::string& why);

/// Whether all run through if each rank takes its collectives in the order of its operations.
/// Without messages only the order of collectives counts.
[[nodiscard]] bool collectives_agree(const std::vector<RanksAlike>& ranks);

}  // namespace switchfold
