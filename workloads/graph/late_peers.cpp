// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/late_peers.h"

#include <algorithm>
#include <map>
#include <memory>

namespace switchfold {

Time lateness(Time residence, const TransferTime& transfer) {
    return residence > transfer.whole ? residence - transfer.after_last : Time();
}

const CollectiveOperation* awaited(const Operation& operation, const std::vector<Group>& groups) {
    const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
    const bool waits = collective != nullptr && collective->measured > Time() &&
                       groups[collective->group].ranks.size() > 1;
    return waits ? collective : nullptr;
}

LatePeers set_peers_late(ExecutionGraph& graph, const TransferOf& transfer_of) {
    LatePeers found;
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> changed;
    for (auto& rank : graph.ranks) {
        auto& fresh = changed[rank.get()];
        if (!fresh) {
            auto copy = std::make_shared<RankGraph>(*rank);
            for (Operation& operation : copy->operations) {
                if (awaited(operation, graph.groups) == nullptr)
                    continue;
                auto* collective = std::get_if<CollectiveOperation>(&operation.body);
                ++found.collectives;
                const TransferTime transfer =
                    transfer_of(*collective, graph.groups[collective->group]);
                if (collective->peers_late == Time())
                    collective->peers_late = lateness(collective->measured, transfer);
                if (collective->peers_late == Time())
                    continue;
                ++found.waited;
                const Time residence = collective->peers_late + transfer.after_last;
                found.waiting += residence - std::min(residence, transfer.whole);
            }
            fresh = std::move(copy);
        }
        rank = fresh;
    }
    return found;
}

bool has_residences(const RankGraph& rank) {
    return std::any_of(
        rank.operations.begin(), rank.operations.end(), [](const Operation& operation) {
            const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
            return collective != nullptr && collective->measured > Time();
        });
}

}  // namespace switchfold
