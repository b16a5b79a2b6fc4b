// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/peer_copies/choice.h"

#include "interconnect/path_finder.h"
#include "models/collectives/peer_copies/reduce_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

std::string why_no_peer_copies(
    Algorithm algorithm, const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    if (algorithm == Algorithm::kHost && lay_out(topology, ranks).machines.size() > 1)
        return "the group spans several machines, and a host's threads add in its own memory; "
               "owners and topology_tree copy between machines";
    if (algorithm == Algorithm::kTopologyTree && ranks.size() > kMostSearched)
        return fmt::format(
            "the group has {} GPUs, and trees are searched for {} at most", ranks.size(),
            kMostSearched);
    if (algorithm == Algorithm::kHost)
        return {};
    PathFinder finder(topology);
    for (const std::uint32_t rank : ranks)
        if (rank != ranks.front() && finder.shortest(ranks.front(), rank, 1).empty())
            return fmt::format("GPUs {} and {} are not joined", ranks.front(), rank);
    return {};
}

CollectiveConfig choose_peer_copies(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call) {
    CollectiveConfig choice;
    choice.algorithm = policy.algorithm;
    choice.channels = 0;
    PeerCopyPolicy copies = policy.copies;
    if (copies.owners == 0)
        copies.owners = machine.ranks;
    copies.owners = std::min(copies.owners, machine.ranks);
    if (copies.trees == 0)
        copies.trees = machine.ranks;
    copies.trees = std::min(copies.trees, machine.ranks);
    choice.own = copies;
    const auto rate =
        static_cast<double>(std::max<std::uint64_t>(1, machine.pair_bandwidth.count()));
    const double seconds = 2 * static_cast<double>(call.bytes.count()) / rate;
    choice.estimate =
        params.peer_copies.call * 3 + Time(static_cast<std::uint64_t>(seconds * 1e12));
    return choice;
}

}  // namespace switchfold
