// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// What becomes of the traced rank's sends and receives.
enum class SpreadMessages : std::uint8_t {
    kMatch,  ///< they match those of ranks that do the same, where these are as many and as large
    kHold,   ///< all take as long as traced: such ranks would wait for each other
};

/// Whether ranks may stand for others.
struct AskedFold {
    bool fold = false;
    /// Ranks that do what most others do not, with a number above 0 that those alike share.
    std::map<std::uint32_t, std::uint32_t> unlike;
};

/// How one traced rank was made to stand for all.
struct Spread {
    std::vector<std::string> notes;  ///< what was assumed, a sentence each
    std::uint64_t matched = 0;       ///< sends and receives that match another rank's
    /// By process group of the trace: the groups of the graph that it repeats as. Only if folded.
    std::vector<std::vector<std::uint32_t>> orbits;
    std::vector<std::string>
        problems;  ///< why it cannot stand for all; the graph is then unchanged
};

/// Lets the one rank of the graph, number `rank` of a run of `world`, stand for `ranks` ranks.
/// Every process group is repeated over them by its strides and sizes (RankBox): ranks whose groups
/// have the same place share their operations. A group that no such layout fits is a problem. Sends
/// and receives go to the member that is as many places away in the group as the traced peer; those
/// that then match no other rank's take as long as traced. `traced` gives an operation's time in
/// the trace, by index. Folded, unless ranks send to each other, only the first of ranks that are
/// alike has operations, and stands for the others.
[[nodiscard]] Spread spread_over_ranks(
    ExecutionGraph& graph, std::uint32_t rank, std::uint32_t world, std::uint32_t ranks,
    const std::function<Time(std::size_t)>& traced,
    SpreadMessages messages = SpreadMessages::kMatch, const AskedFold& fold = {});

/// Why the rank cannot stand for `ranks` ranks, without changing the graph: empty if it can.
[[nodiscard]] std::vector<std::string> why_not_spread(
    const ExecutionGraph& graph, std::uint32_t rank, std::uint32_t world, std::uint32_t ranks);

}  // namespace switchfold
