// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/late_peers.h"

#include "sim/run/machine/beside.h"

#include <map>
#include <tuple>

namespace switchfold {

LatePeers derive_late_peers(const SystemParams& system, ExecutionGraph& graph) {
    using Shape =
        std::tuple<CollectiveKind, Bytes, std::size_t, std::uint32_t, std::uint32_t, std::string>;
    std::map<Shape, TransferTime> known;
    return set_peers_late(graph, [&](CollectiveOperation collective, const Group& group) {
        // An estimated size was derived with this machine's own channels: use them here as well.
        if (collective.kind == CollectiveKind::kAllReduce &&
            collective.size_source == SizeSource::kEstimatedFromDuration) {
            collective.thread_blocks = collective.threads_per_block = 0;
            collective.protocol = {};
        }
        const Shape shape{
            collective.kind,
            collective.bytes,
            group.ranks.size(),
            collective.thread_blocks,
            collective.threads_per_block,
            std::string(collective.protocol.text())};
        auto [at, fresh] = known.try_emplace(shape);
        if (fresh) {
            const CollectiveTraffic traffic =
                traced_traffic(system, collective, static_cast<std::uint32_t>(group.ranks.size()));
            at->second = {traffic.time, traffic.after_last};
        }
        return at->second;
    });
}

}  // namespace switchfold
