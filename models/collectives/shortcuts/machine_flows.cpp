// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/machine_flows.h"

#include "interconnect/hop.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace switchfold {

namespace {

/// Links of the network must be this far from being the limit.
constexpr double kRoomToSpare = 0.95;
/// By this share the busiest links of machines may differ.
constexpr double kAsBusy = 0.01;

}  // namespace

MachineFlows::MachineFlows(const Topology& topology, RankSymmetry& fold, std::uint32_t kept) :
    topology_(topology),
    fold_(fold),
    kept_(kept),
    hops_(topology.machines() + 1),
    nodes_(topology.machines() + 1) {
    const auto hops = static_cast<std::uint32_t>(2 * topology.edges.size());
    const std::uint32_t network = topology.machines();
    for (std::uint32_t node = 0; node < topology.nodes.size(); ++node)
        nodes_[std::min(network, topology.nodes[node].machine)].push_back(node);
    for (std::uint32_t hop = 0; hop < hops; ++hop) {
        const std::uint32_t from = topology.nodes[topology.end_of(reversed(hop))].machine;
        const std::uint32_t to = topology.nodes[topology.end_of(hop)].machine;
        hops_[std::min({network, from, to})].push_back(hop);
    }
    for (Traffic* traffic : {&all_, &of_kept_}) {
        traffic->over.resize(hops);
        traffic->into.resize(topology.nodes.size());
    }
    fold.times_of_hop.assign(hops, 1);
}

void MachineFlows::add(
    const std::vector<Path>& ways, const std::vector<Path>& images, std::uint64_t key) {
    count(ways, all_);
    if (keys_.insert(key).second)
        count(images, of_kept_);
}

void MachineFlows::count(const std::vector<Path>& ways, Traffic& traffic) const {
    double weights = 0;
    for (const Path& way : ways)
        weights += way.weight;
    for (const Path& way : ways) {
        Time latency;
        for (const std::uint32_t hop : way.hops) {
            const double share = way.weight / weights;
            const TopologyNode& end = topology_.nodes[topology_.end_of(hop)];
            latency += topology_.links[topology_.edges[edge_of(hop)].link_class].latency;
            if (end.kind != NodeKind::kGpu)
                latency += topology_.switches[end.switch_class].latency;
            traffic.over[hop] += share;
            traffic.into[topology_.end_of(hop)] += share;
        }
        traffic.longest = std::max(traffic.longest, latency);
    }
}

double MachineFlows::busy(std::uint32_t hop, const Traffic& traffic) const {
    const TopologyEdge& edge = topology_.edges[edge_of(hop)];
    const LinkParams& link = topology_.links[edge.link_class];
    return 1e12 * traffic.over[hop] /
           (static_cast<double>(link.lane_bandwidth.count()) * edge.lanes);
}

double MachineFlows::busiest(const std::vector<std::uint32_t>& hops, const Traffic& traffic) const {
    double most = 0;
    for (const std::uint32_t hop : hops)
        most = std::max(most, busy(hop, traffic));
    return most;
}

void MachineFlows::set(std::uint32_t hop, std::uint32_t image) {
    const double times = all_.over[hop] / of_kept_.over[image];
    fold_.image_of_hop[hop] = image;
    fold_.times_of_hop[hop] = times;
    // Nothing but replies, if the image's other direction carries nothing else either.
    if (all_.over[reversed(hop)] == 0 && of_kept_.over[reversed(image)] == 0) {
        fold_.image_of_hop[reversed(hop)] = reversed(image);
        fold_.times_of_hop[reversed(hop)] = times;
    }
}

bool MachineFlows::fold_machines() {
    for (std::uint32_t machine = 0; machine + 1 < hops_.size(); ++machine) {
        const auto& hops = hops_[machine];
        const auto& nodes = nodes_[machine];
        const auto& images = hops_[machine % kept_];
        const double most = busiest(images, of_kept_);
        if (hops.size() != images.size() || nodes.size() != nodes_[machine % kept_].size() ||
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
            set(hops[i], *used);
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::uint32_t image = nodes_[machine % kept_][i];
            const double of_kept = of_kept_.into[image];
            fold_.image_of_node[nodes[i]] = {
                image, of_kept > 0 ? all_.into[nodes[i]] / of_kept : 1};
        }
    }
    return true;
}

bool MachineFlows::fold_network() {
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
            set(hop, of_kept_.over[hop] > 0 ? hop : entry);
    const std::uint32_t first = topology_.end_of(entry);
    for (const std::uint32_t node : nodes_.back()) {
        const std::uint32_t image = of_kept_.into[node] > 0 ? node : first;
        if (all_.into[node] > 0)
            fold_.image_of_node[node] = {image, all_.into[node] / of_kept_.into[image]};
    }
    return true;
}

}  // namespace switchfold
