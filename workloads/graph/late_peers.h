// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <functional>

namespace switchfold {

/// How long a machine needs for a collective.
struct TransferTime {
    Time whole;       ///< all ranks come at once
    Time after_last;  ///< from the last rank's coming, the others long there: less than the whole
                      ///< where they have exchanged among themselves meanwhile
};
using TransferOf =
    std::function<TransferTime(const CollectiveOperation& collective, const Group& group)>;

/// How much later than a traced rank the last of the others came to a collective, if its
/// communication kernel was resident for `residence`. A residence that the transfer explains means
/// that nobody was late, or the traced rank itself.
[[nodiscard]] Time lateness(Time residence, const TransferTime& transfer);

/// What set_peers_late() found.
struct LatePeers {
    std::uint64_t collectives = 0;  ///< of the traced rank, with a residence
    std::uint64_t waited = 0;       ///< of them, for a late rank
    Time waiting;                   ///< of all of them, beyond the transfers
};

/// Sets how late the ranks that were not traced come to each collective, as the one traced rank,
/// whose graph all ranks share, shows it. Lateness that the trace states stays. Groups of one rank
/// wait for nobody.
LatePeers set_peers_late(ExecutionGraph& graph, const TransferOf& transfer_of);

/// Whether a collective of the rank says how long it was resident.
[[nodiscard]] bool has_residences(const RankGraph& rank);

}  // namespace switchfold
