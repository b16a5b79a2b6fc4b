// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/machine_links.h"

#include "interconnect/topology_analysis.h"
#include "interconnect/topology_builder.h"
#include "models/collectives/choice/named_policies.h"

#include <algorithm>

namespace switchfold {

namespace {

/// Up to here, all cuts into blocks of ranks are used; above, only those of the first machine and
/// between machines, which still gives a valid bound.
constexpr std::uint32_t kFewGpus = 32;

}  // namespace

MachineCuts::MachineCuts(const SystemParams& system) {
    const Topology topology = build_topology(system.topology);
    const std::uint32_t gpus = topology.gpus();
    std::vector<double> ports(gpus, 0);
    for (const TopologyEdge& edge : topology.edges)
        for (const std::uint32_t end : {edge.a, edge.b})
            if (end < gpus)
                ports[end] += static_cast<double>(usable_bandwidth(topology, edge).count());
    port_rate_ = *std::max_element(ports.begin(), ports.end());
    const auto add = [&](std::uint32_t from, std::uint32_t end) {
        if (end - from == gpus)
            return;
        Cut cut;
        cut.side.assign(gpus, false);
        std::fill(cut.side.begin() + from, cut.side.begin() + end, true);
        cut.rate = static_cast<double>(cut_bandwidth(topology, cut.side).count());
        if (cut.rate > 0)
            cuts_.push_back(std::move(cut));
    };
    const std::uint32_t machines = std::max(1U, topology.machines());
    const std::uint32_t per_machine = gpus / machines;
    const std::uint32_t looked_at = gpus <= kFewGpus ? gpus : per_machine;
    for (std::uint32_t block = 1; block <= looked_at; block *= 2)
        for (std::uint32_t from = 0; from + block <= looked_at; from += block)
            add(from, from + block);
    if (gpus > kFewGpus)
        for (std::uint32_t machine = 1; machine < std::min(machines, kFewGpus); ++machine)
            add(machine * per_machine, (machine + 1) * per_machine);
}

bool MachineLinks::runs_as_ring(CollectiveKind kind) const {
    return asks_for_rings(policies_.of(kind));
}

double MachineLinks::collective(
    CollectiveKind kind, double bytes, const std::vector<std::uint32_t>& ranks) const {
    const auto n = static_cast<double>(ranks.size());
    double seconds = 0;
    for (const MachineCuts::Cut& cut : cuts_->cuts()) {
        const auto inside = static_cast<double>(std::count_if(
            ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return cut.side[rank]; }));
        if (inside == 0 || inside == n)
            continue;
        double crosses = 0;  // bytes in one direction
        switch (kind) {
        case CollectiveKind::kAllReduce:
            // One side's sum must reach the other side, wherever it is added. In a ring, each part
            // crosses twice.
            crosses = runs_as_ring(kind) ? 2 * (n - 1) / n * bytes : bytes;
            break;
        case CollectiveKind::kAllGather:
        case CollectiveKind::kReduceScatter:
            crosses = (runs_as_ring(kind) ? n - 1 : std::max(inside, n - inside)) / n * bytes;
            break;
        case CollectiveKind::kAllToAll:
            crosses = inside * (n - inside) / n * bytes;
            break;
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kReduce:
            crosses = bytes;
            break;
        default:
            break;
        }
        seconds = std::max(seconds, crosses / cut.rate);
    }
    return seconds;
}

double MachineLinks::port(CollectiveKind kind, double bytes, std::size_t ranks) const {
    const auto n = static_cast<double>(ranks);
    double out = 0;
    switch (kind) {
    case CollectiveKind::kAllReduce:
        out = runs_as_ring(kind) ? 2 * (n - 1) / n * bytes : bytes;
        break;
    case CollectiveKind::kAllGather:  // switches may replicate
        out = (runs_as_ring(kind) ? n - 1 : 1) / n * bytes;
        break;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
        out = (n - 1) / n * bytes;
        break;
    default:
        break;
    }
    return cuts_->port_rate() > 0 ? out / cuts_->port_rate() : 0;
}

double MachineLinks::message(double bytes, std::uint32_t from, std::uint32_t to) const {
    double seconds = 0;
    for (const MachineCuts::Cut& cut : cuts_->cuts())
        if (cut.side[from] != cut.side[to])
            seconds = std::max(seconds, bytes / cut.rate);
    return seconds;
}

}  // namespace switchfold
