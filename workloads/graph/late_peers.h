// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <functional>

namespace switchfold {

/// Time that a machine needs for a collective.
struct TransferTime {
    Time whole;       ///< all ranks arrive together
    Time after_last;  ///< from the last rank's arrival if the others are already there: less than
                      ///< `whole` if they can exchange data among themselves meanwhile
};
using TransferOf =
    std::function<TransferTime(const CollectiveOperation& collective, const Group& group)>;

/// How long after a traced rank the last of the others arrived at a collective, given the
/// `residence` of its communication kernel. Zero if the transfer explains the residence: nobody was
/// late, or the traced rank was last.
[[nodiscard]] Time lateness(Time residence, const TransferTime& transfer);

/// What set_peers_late() found.
struct LatePeers {
    std::uint64_t collectives = 0;  ///< of the traced rank, with known residence
    std::uint64_t waited = 0;       ///< of those, delayed by a late rank
    Time waiting;                   ///< sum of the waits, transfers excluded
};

/// The collective whose lateness set_peers_late() derives, if the operation is one: several ranks,
/// and a known residence. Null otherwise.
[[nodiscard]] const CollectiveOperation*
awaited(const Operation& operation, const std::vector<Group>& groups);

/// Derives how late the untraced ranks arrive at each collective from the one traced rank, whose
/// graph all ranks share. Lateness stated by the trace is kept. Groups of one rank wait for nobody.
LatePeers set_peers_late(ExecutionGraph& graph, const TransferOf& transfer_of);

/// Whether any collective of the rank has a known residence.
[[nodiscard]] bool has_residences(const RankGraph& rank);

}  // namespace switchfold
