// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/machine_flows.h"

#include "interconnect/hop.h"
#include "models/collectives/shortcuts/way_shares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace switchfold {

namespace {

/// By this share the busiest links of machines may differ.
constexpr double kAsBusy = 0.01;

}  // namespace

MachineFlows::MachineFlows(const Topology& topology, std::uint32_t machines) :
    topology_(topology),
    machines_(machines),
    hops_(topology.machines() + 1),
    nodes_(topology.machines() + 1),
    all_(none()) {
    const std::uint32_t network = topology.machines();
    for (std::uint32_t node = 0; node < topology.nodes.size(); ++node)
        nodes_[std::min(network, topology.nodes[node].machine)].push_back(node);
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const std::uint32_t from = topology.nodes[topology.end_of(reversed(hop))].machine;
        const std::uint32_t to = topology.nodes[topology.end_of(hop)].machine;
        hops_[std::min({network, from, to})].push_back(hop);
    }
}

MachineFlows::Traffic MachineFlows::none() const {
    return {
        std::vector<double>(2 * topology_.edges.size()),
        std::vector<double>(topology_.nodes.size()), Time()};
}

void MachineFlows::count(const std::vector<Path>& ways, Traffic& traffic) const {
    for_each_share(ways, 1, [&](std::uint32_t hop, double share) {
        traffic.over[hop] += share;
        traffic.into[topology_.end_of(hop)] += share;
    });
    for (const Path& way : ways) {
        Time latency;
        for (const std::uint32_t hop : way.hops) {
            const TopologyNode& end = topology_.nodes[topology_.end_of(hop)];
            latency += topology_.links[topology_.edges[edge_of(hop)].link_class].latency;
            if (end.kind != NodeKind::kGpu)
                latency += topology_.switches[end.switch_class].latency;
        }
        traffic.longest = std::max(traffic.longest, latency);
    }
}

bool MachineFlows::fold_onto(
    std::uint32_t kept, const std::vector<std::vector<Path>>& images, RankSymmetry& fold) {
    of_kept_ = none();
    for (const std::vector<Path>& ways : images)
        count(ways, of_kept_);
    fold.times_of_hop.assign(of_kept_.over.size(), 1);
    return fold_machines(kept, fold) && fold_network(fold);
}

double MachineFlows::busy(std::uint32_t hop, const Traffic& traffic) const {
    return 1e12 * traffic.over[hop] / bandwidth_of(topology_, hop);
}

double MachineFlows::busiest(const std::vector<std::uint32_t>& hops, const Traffic& traffic) const {
    double most = 0;
    for (const std::uint32_t hop : hops)
        most = std::max(most, busy(hop, traffic));
    return most;
}

void MachineFlows::set(std::uint32_t hop, std::uint32_t image, RankSymmetry& fold) const {
    const double times = all_.over[hop] / of_kept_.over[image];
    fold.image_of_hop[hop] = image;
    fold.times_of_hop[hop] = times;
    // Nothing but replies, if the image's other direction carries nothing else either.
    if (all_.over[reversed(hop)] == 0 && of_kept_.over[reversed(image)] == 0) {
        fold.image_of_hop[reversed(hop)] = reversed(image);
        fold.times_of_hop[reversed(hop)] = times;
    }
}

bool MachineFlows::fold_machines(std::uint32_t kept, RankSymmetry& fold) const {
    for (std::uint32_t machine = 0; machine < machines_; ++machine) {
        const auto& hops = hops_[machine];
        const auto& nodes = nodes_[machine];
        const auto& images = hops_[machine % kept];
        const double most = busiest(images, of_kept_);
        if (hops.size() != images.size() || nodes.size() != nodes_[machine % kept].size() ||
            std::abs(busiest(hops, all_) - most) > kAsBusy * most)
            return false;
        for (std::size_t i = 0; i < hops.size(); ++i) {
            if (!alike(topology_, hops[i], images[i]))
                return false;
            if (all_.over[hops[i]] == 0)
                continue;
            // Which switch planes a pair's few ways use differs from pair to pair.
            const auto used =
                of_kept_.over[images[i]] > 0
                    ? images.begin() + static_cast<std::ptrdiff_t>(i)
                    : std::ranges::find_if(images, [&](std::uint32_t other) {
                          return of_kept_.over[other] > 0 && alike(topology_, hops[i], other);
                      });
            if (used == images.end())
                return false;
            set(hops[i], *used, fold);
        }
        for (std::size_t i = 0; i < nodes.size(); ++i)
            fold.image_of_node[nodes[i]] = nodes_[machine % kept][i];
    }
    return true;
}

bool MachineFlows::fold_network(RankSymmetry& fold) const {
    std::uint32_t entry = RankSymmetry::kIdle;  // the busiest hop into the network
    for (const std::uint32_t hop : hops_.front())
        if (topology_.nodes[topology_.end_of(hop)].machine == kNoMachine &&
            (entry == RankSymmetry::kIdle || busy(hop, of_kept_) > busy(entry, of_kept_)))
            entry = hop;
    // Where links inside machines are the limit, what comes over other ways meets there in another
    // order, which matters: 4 to 6 % on Polaris.
    if (entry == RankSymmetry::kIdle || busy(entry, of_kept_) < kRoomToSpare * limit())
        return false;
    const std::vector<std::uint32_t>& hops = hops_.back();
    if (std::max(busiest(hops, all_), busiest(hops, of_kept_)) > kRoomToSpare * limit())
        return false;
    // What the kept machines' flows never pass has the traffic of where they enter.
    for (const std::uint32_t hop : hops)
        if (all_.over[hop] > 0)
            set(hop, of_kept_.over[hop] > 0 ? hop : entry, fold);
    const std::uint32_t first = topology_.end_of(entry);
    for (const std::uint32_t node : nodes_.back())
        if (all_.into[node] > 0)
            fold.image_of_node[node] = of_kept_.into[node] > 0 ? node : first;
    return true;
}

}  // namespace switchfold
