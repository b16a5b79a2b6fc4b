// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/machine_view.h"

#include "interconnect/hop.h"
#include "interconnect/path_finder.h"
#include "interconnect/reduction_planner.h"
#include "interconnect/topology_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace switchfold {

namespace {

/// Rate at which flows of equal size can proceed concurrently: limited by the most shared link.
class SharedWires {
public:
    SharedWires(const Topology& topology, PathFinder& paths, std::uint32_t unit) :
        topology_(topology), paths_(paths), unit_(unit) {}

    void add(std::uint32_t from, std::uint32_t to) {
        ++flows_;
        const std::vector<Path> ways = paths_.shortest(from, to);
        double all = 0;
        for (const Path& path : ways)
            all += path.weight;
        for (const Path& path : ways)
            for (const std::uint32_t hop : path.hops)
                load_[hop] += path.weight / all;
    }

    /// Payload bytes per second of each flow; 0 without flows.
    [[nodiscard]] double rate() const {
        double least = 0;
        for (const auto& [hop, load] : load_) {
            const TopologyEdge& edge = topology_.edges[edge_of(hop)];
            const LinkParams& link = topology_.links[edge.link_class];
            const std::uint32_t wire = link.format.wire_bytes(PacketKind::kWrite, unit_) +
                                       link.format.acknowledge_bytes(PacketKind::kWrite, unit_);
            const auto usable = static_cast<double>(usable_bandwidth(topology_, edge).count());
            const double share = usable * unit_ / wire / load;
            least = least == 0 ? share : std::min(least, share);
        }
        return least;
    }
    /// The same of the lines' raw rate.
    [[nodiscard]] double line_rate() const {
        double least = 0;
        for (const auto& [hop, load] : load_) {
            const TopologyEdge& edge = topology_.edges[edge_of(hop)];
            const Bandwidth line = topology_.links[edge.link_class].lane_bandwidth * edge.lanes;
            const double share = static_cast<double>(line.count()) / load;
            least = least == 0 ? share : std::min(least, share);
        }
        return least;
    }
    [[nodiscard]] std::size_t flows() const { return flows_; }

private:
    const Topology& topology_;
    PathFinder& paths_;
    std::uint32_t unit_;
    std::size_t flows_ = 0;
    std::unordered_map<std::uint32_t, double> load_;  ///< flows on a hop
};

Bandwidth times(double rate, std::size_t count) {
    return Bandwidth(static_cast<std::uint64_t>(rate * static_cast<double>(count)));
}

/// Payload per second into a GPU if the switches reduce for its whole domain: answers to all heads'
/// reads leave the GPU, and the sums that all heads store enter it.
Bandwidth in_switch_rate(
    const Topology& topology, const std::vector<std::uint32_t>& ranks, std::uint32_t unit) {
    std::set<std::uint32_t> uplinks;  // trees of several levels may share uplinks
    for (const ReductionTree& tree : plan_reduction(topology, ranks).trees)
        uplinks.insert(edge_of(tree.uplinks.front()));
    double inbound = 0;
    for (const std::uint32_t edge : uplinks)
        inbound += pulled_payload(topology, topology.edges[edge], unit, ranks.size());
    return Bandwidth(static_cast<std::uint64_t>(inbound));
}

std::vector<std::uint32_t>
ranks_of(const std::vector<std::uint32_t>& ranks, const std::vector<std::uint32_t>& members) {
    std::vector<std::uint32_t> there;
    there.reserve(members.size());
    for (const std::uint32_t member : members)
        there.push_back(ranks[member]);
    return there;
}

/// Whether the shortest path passes through nodes other than GPUs and their switches.
bool over_pcie(const Topology& topology, PathFinder& paths, std::uint32_t from, std::uint32_t to) {
    for (const Path& path : paths.shortest(from, to))
        for (const std::uint32_t hop : path.hops)
            for (const std::uint32_t end :
                 {topology.edges[edge_of(hop)].a, topology.edges[edge_of(hop)].b}) {
                const NodeKind kind = topology.nodes[end].kind;
                if (kind != NodeKind::kGpu && kind != NodeKind::kSwitch)
                    return true;
            }
    return false;
}

/// What a ring over PCIe finds on its way: the shares of raw bandwidth that each of its passes over
/// a link gets.
void look_at_pcie(
    const Topology& topology, PathFinder& paths, const std::vector<std::uint32_t>& ring,
    MachineView& machine) {
    std::unordered_map<std::uint32_t, std::uint32_t> passes;  // of a hop
    for (std::size_t place = 0; place < ring.size(); ++place) {
        const Path path = paths.shortest(ring[place], ring[(place + 1) % ring.size()]).front();
        std::uint32_t roots = 0;
        for (const std::uint32_t hop : path.hops) {
            ++passes[hop];
            roots += topology.nodes[topology.end_of(hop)].kind == NodeKind::kHost ? 1 : 0;
        }
        machine.over_root = machine.over_root || roots == 1;
    }
    const auto narrower = [](Bandwidth& least, Bandwidth one) {
        least = least.count() == 0 ? one : std::min(least, one);
    };
    for (const auto& [hop, count] : passes) {
        const TopologyEdge& edge = topology.edges[edge_of(hop)];
        const NodeKind a = topology.nodes[edge.a].kind;
        const NodeKind b = topology.nodes[edge.b].kind;
        if (a == NodeKind::kMemory || b == NodeKind::kMemory)
            continue;
        const Bandwidth raw = topology.links[edge.link_class].lane_bandwidth * edge.lanes;
        const bool sockets = a == NodeKind::kHost && b == NodeKind::kHost;
        narrower(
            sockets ? machine.socket_bandwidth : machine.slot_bandwidth,
            Bandwidth(raw.count() / count));
    }
}

/// Rate of the first rank's slowest transfer to another one. Tries 256 at most, evenly spaced: a
/// search for paths looks at most of a large domain, and such domains are regular.
Bandwidth slowest_pair(
    const Topology& topology, PathFinder& paths, std::uint32_t unit,
    const std::vector<std::uint32_t>& ranks) {
    constexpr std::size_t kMost = 256;
    const std::size_t others = ranks.size() - 1;
    std::optional<Bandwidth> slowest;
    for (std::size_t i = 0; i < std::min(kMost, others); ++i) {
        SharedWires pair(topology, paths, unit);
        pair.add(ranks.front(), ranks[1 + i * others / std::min(kMost, others)]);
        const Bandwidth rate = times(pair.rate(), 1);
        if (!slowest || rate < *slowest)
            slowest = rate;
    }
    return slowest.value_or(Bandwidth());
}

}  // namespace

GroupView
view_group(const Topology& topology, Bytes transfer_unit, const std::vector<std::uint32_t>& ranks) {
    const auto unit = static_cast<std::uint32_t>(transfer_unit.count());
    GroupView view;
    view.layout = lay_out(topology, ranks);
    view.rings = ring_orders(topology, ranks, view.layout);
    view.trees = tree_parents(view.layout, view.rings);
    MachineView& machine = view.machine;
    machine.ranks = static_cast<std::uint32_t>(ranks.size());
    machine.machines = static_cast<std::uint32_t>(view.layout.machines.size());
    const auto& first = view.layout.machines.front();
    for (const auto& members : view.layout.machines)
        machine.per_machine =
            std::max(machine.per_machine, static_cast<std::uint32_t>(members.size()));
    // All machines of a system are equal: the first one represents all.
    PathFinder paths(topology);
    SharedWires inside(topology, paths, unit);
    SharedWires rings(topology, paths, unit);
    for (const auto& order : view.rings)
        for (std::size_t place = 0; place < order.size(); ++place) {
            const std::uint32_t from = order[place];
            const std::uint32_t to = order[(place + 1) % order.size()];
            if (view.layout.machine_of[from] != view.layout.machine_of[first.front()])
                continue;
            rings.add(ranks[from], ranks[to]);
            if (view.layout.machine_of[to] == view.layout.machine_of[from])
                inside.add(ranks[from], ranks[to]);
        }
    machine.ring_bandwidth = times(rings.rate(), view.rings.size());
    machine.ring_line_rate = times(rings.line_rate(), view.rings.size());
    machine.inside_bandwidth = times(inside.rate(), view.rings.size());
    const std::uint32_t neighbour = first.size() > 1 ? first[1] : first[0];
    machine.pcie = over_pcie(topology, paths, ranks[first.front()], ranks[neighbour]);
    if (machine.pcie && machine.machines == 1)
        look_at_pcie(topology, paths, ranks_of(ranks, view.rings.front()), machine);
    machine.pair_bandwidth = slowest_pair(topology, paths, unit, ranks_of(ranks, first));
    if (machine.machines > 1) {
        const auto& next = view.layout.machines[1];
        SharedWires rails(topology, paths, unit);
        for (std::size_t i = 0; i < std::min(first.size(), next.size()); ++i)
            rails.add(ranks[first[i]], ranks[next[i]]);
        machine.rail_bandwidth = times(rails.rate(), rails.flows());
        machine.rails = rails_of(topology, ranks, view.layout);
    }
    const Algorithm reduced =
        machine.machines > 1 ? Algorithm::kInSwitchTree : Algorithm::kInSwitch;
    if (why_not(reduced, topology, ranks).empty())
        machine.in_switch_bandwidth = in_switch_rate(topology, ranks_of(ranks, first), unit);
    machine.network_reduces =
        machine.machines > 1 && why_not(Algorithm::kCollnet, topology, ranks).empty();
    return view;
}

std::string
why_not(Algorithm algorithm, const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    switch (algorithm) {
    case Algorithm::kInSwitch:
        return why_no_reduction(topology, ranks);
    case Algorithm::kInSwitchTree:
    case Algorithm::kInSwitchRing:
    case Algorithm::kCollnet:
        break;
    default:
        return {};
    }
    const GroupLayout layout = lay_out(topology, ranks);
    if (layout.machines.size() == 1)
        return "all GPUs of the group are in one machine; in_switch covers that case";
    if (!layout.even())
        return "the machines do not all have the same number of the group's GPUs";
    if (layout.machines.front().size() == 1)
        return "the group has one GPU a machine, so nothing is reduced inside";
    ReductionPlanner planner(topology);
    for (const auto& members : layout.machines) {
        std::string reason = planner.why_not(ranks_of(ranks, members));
        if (!reason.empty())
            return reason;
    }
    if (algorithm == Algorithm::kCollnet)
        for (const auto& rail : rails_across(layout)) {
            const std::string reason = planner.why_not(ranks_of(ranks, rail));
            if (!reason.empty())
                return fmt::format("in the network {}", reason);
        }
    return {};
}

std::string why_not(
    Algorithm algorithm, CollectiveKind kind, Datatype datatype, const Topology& topology,
    const std::vector<std::uint32_t>& ranks) {
    const bool adds = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
    if (reduces_in_switch(algorithm) && adds && !reducible_in_switch(datatype))
        return fmt::format("the switches add no {}", to_string(datatype));
    return why_not(algorithm, topology, ranks);
}

}  // namespace switchfold
