// SPDX-License-Identifier: Apache-2.0
#include "interconnect/path_finder.h"

#include "core/random_stream.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

constexpr std::uint32_t kUnseen = UINT32_MAX;
/// Path counts saturate here: enough to spread pairs, far from overflow.
constexpr std::uint64_t kManyWays = 1ULL << 62U;

/// The largest distance between neighbours among the first `count` multiples of `stride`, on a
/// circle of `total`.
std::uint64_t largest_gap(std::uint64_t stride, std::uint64_t count, std::uint64_t total) {
    std::vector<std::uint64_t> ranks{0};
    while (ranks.size() < count)
        ranks.push_back((ranks.back() + stride) % total);
    std::sort(ranks.begin(), ranks.end());
    std::uint64_t gap = total - ranks.back();
    for (std::size_t i = 1; i < ranks.size(); ++i)
        gap = std::max(gap, ranks[i] - ranks[i - 1]);
    return gap;
}

/// A stride by which `count` of `total` ranks use every node of every layer nearly equally often.
/// The rank of a path is a number whose digits are its choices, that of its last node the lowest. A
/// stride without a factor in common with the total changes the lowest digit every time; one near
/// the golden section that leaves no wide gap spreads the highest.
std::uint64_t even_stride(std::uint64_t count, std::uint64_t total) {
    constexpr double kGolden = 0.6180339887498949;
    constexpr int kCandidates = 16;
    std::uint64_t best = 1;
    std::uint64_t least = total;
    auto stride = static_cast<std::uint64_t>(static_cast<double>(total) * kGolden);
    for (int tried = 0; tried < kCandidates && stride < total; ++stride) {
        if (std::gcd(stride, total) != 1)
            continue;
        ++tried;
        if (const std::uint64_t gap = largest_gap(stride, count, total); gap < least) {
            best = stride;
            least = gap;
        }
    }
    return best;
}

}  // namespace

PathFinder::PathFinder(const Topology& topology) :
    topology_(topology),
    relays_(topology),
    neighbours_(adjacency_of(topology)),
    ends_(topology.nodes.size(), 0),
    distance_(topology.nodes.size(), kUnseen),
    ways_(topology.nodes.size(), 0),
    steps_(topology.nodes.size(), kUnseen) {
    for (std::size_t i = 0; i < topology.nodes.size(); ++i)
        ends_[i] =
            topology.nodes[i].kind == NodeKind::kGpu && topology.nodes[i].machine != kNoMachine;
}

bool PathFinder::passes(std::uint32_t node, const Rule& rule) const {
    const TopologyNode& n = topology_.nodes[node];
    if (n.machine == kNoMachine)
        return rule.network;
    if (n.machine != rule.machine_a && n.machine != rule.machine_b)
        return false;
    switch (n.kind) {
    case NodeKind::kGpu:
        return false;
    case NodeKind::kSwitch:
        return true;
    case NodeKind::kNic:
        return rule.network;
    default:
        return rule.pcie;
    }
}

/// From both ends, a layer at a time, always the one with fewer links to look at: a switch of a
/// large network has links to all others, and few of these lie between two machines. The layers
/// meet after the fewest steps; from there the source's are labelled on the way back.
void PathFinder::search(std::uint32_t from, std::uint32_t to, const Rule& rule) {
    touched_.assign({to, from});
    distance_[to] = 0;
    ways_[to] = 1;
    steps_[from] = 0;
    reached_.assign(1, {from});
    std::vector<std::uint32_t> near_end{to};
    const auto links_of = [&](const std::vector<std::uint32_t>& layer) {
        std::size_t links = 0;
        for (const std::uint32_t node : layer)
            links += neighbours_[node].size();
        return links;
    };
    bool met = false;
    while (!met && !near_end.empty() && !reached_.back().empty()) {
        std::vector<std::uint32_t> next;
        if (links_of(near_end) <= links_of(reached_.back())) {
            for (const std::uint32_t node : near_end)
                for (const Neighbour& n : neighbours_[node]) {
                    if (ends_[n.node] != 0 && n.node != from)
                        continue;  // true of most neighbours of a large switch
                    if (distance_[n.node] == kUnseen) {
                        if (n.node != from && !passes(n.node, rule))
                            continue;
                        distance_[n.node] = distance_[node] + 1;
                        touched_.push_back(n.node);
                        next.push_back(n.node);
                        met = met || steps_[n.node] != kUnseen;
                    }
                    if (distance_[n.node] == distance_[node] + 1)
                        ways_[n.node] = std::min(kManyWays, ways_[n.node] + ways_[node]);
                }
            near_end = std::move(next);
        } else {
            for (const std::uint32_t node : reached_.back())
                for (const Neighbour& n : neighbours_[node]) {
                    if (steps_[n.node] != kUnseen || (ends_[n.node] != 0 && n.node != to) ||
                        (n.node != to && !passes(n.node, rule)))
                        continue;
                    steps_[n.node] = steps_[node] + 1;
                    touched_.push_back(n.node);
                    next.push_back(n.node);
                    met = met || distance_[n.node] != kUnseen;
                }
            reached_.push_back(std::move(next));
        }
    }
    if (!met)
        return;
    for (std::size_t layer = reached_.size() - 1; layer-- > 0;)
        for (const std::uint32_t node : reached_[layer]) {
            if (distance_[node] != kUnseen)
                continue;
            std::uint32_t nearest = kUnseen;
            for (const Neighbour& n : neighbours_[node])
                if (steps_[n.node] == layer + 1)
                    nearest = std::min(nearest, distance_[n.node]);
            if (nearest == kUnseen)
                continue;
            distance_[node] = nearest + 1;
            for (const Neighbour& n : neighbours_[node])
                if (distance_[n.node] == nearest)
                    ways_[node] = std::min(kManyWays, ways_[node] + ways_[n.node]);
        }
}

void PathFinder::search_all(std::uint32_t to, const Rule& rule) {
    touched_.assign(1, to);
    distance_[to] = 0;
    for (std::size_t next = 0; next < touched_.size(); ++next)
        for (const Neighbour& n : neighbours_[touched_[next]])
            if (ends_[n.node] == 0 && distance_[n.node] == kUnseen && passes(n.node, rule)) {
                distance_[n.node] = distance_[touched_[next]] + 1;
                touched_.push_back(n.node);
            }
}

void PathFinder::forget() {
    for (const std::uint32_t node : touched_) {
        distance_[node] = steps_[node] = kUnseen;
        ways_[node] = 0;
    }
}

/// The rank-th shortest path in lexicographic order of edges.
Path PathFinder::nth(std::uint32_t from, std::uint32_t to, std::uint64_t rank) const {
    Path path;
    path.weight = UINT32_MAX;
    for (std::uint32_t node = from; node != to;) {
        const Neighbour* taken = nullptr;
        for (const Neighbour& n : neighbours_[node]) {
            if (distance_[n.node] == kUnseen || distance_[n.node] + 1 != distance_[node])
                continue;
            taken = &n;
            if (rank < ways_[n.node])
                break;
            rank -= ways_[n.node];
        }
        path.hops.push_back(taken->hop);
        path.weight = std::min(path.weight, topology_.edges[edge_of(taken->hop)].lanes);
        node = taken->node;
    }
    return path;
}

PathFinder::Nics PathFinder::nics_of(std::uint32_t from, const std::vector<Path>& paths) const {
    std::vector<std::uint32_t> out;
    std::vector<std::uint32_t> in;
    for (const Path& path : paths)
        for (const std::uint32_t hop : path.hops) {
            const std::uint32_t node = topology_.end_of(hop);
            if (topology_.nodes[node].kind != NodeKind::kNic)
                continue;
            auto& nics = topology_.machine_of(node) == topology_.machine_of(from) ? out : in;
            if (std::ranges::find(nics, node) == nics.end())
                nics.push_back(node);
        }
    return {std::max<std::uint64_t>(1, out.size()), std::max<std::uint64_t>(1, in.size())};
}

std::vector<Path> PathFinder::by_nics(
    std::uint32_t from, std::uint32_t to, const Nics& nics, std::uint64_t count,
    std::uint64_t seed) {
    // A way's number says first which NIC it leaves by, and last by which it arrives.
    const std::uint64_t each = ways_[from] / nics.out;
    std::uint64_t stride = stride_of(count, each) / nics.in * nics.in + 1;
    while (std::gcd(stride, each) != 1)
        stride += nics.in;
    std::vector<Path> found;
    for (std::uint64_t k = 0; k < count; ++k) {
        const std::uint64_t out = (k + k / each) % nics.out;
        found.push_back(nth(from, to, out * each + (seed + k * stride) % each));
    }
    return found;
}

std::uint64_t PathFinder::stride_of(std::uint64_t count, std::uint64_t total) {
    const auto [at, fresh] = strides_.try_emplace({count, total});
    if (fresh)
        at->second = even_stride(count, total);
    return at->second;
}

std::vector<Path> PathFinder::paths(
    std::uint32_t from, std::uint32_t to, const Rule& rule, std::uint32_t limit,
    std::uint64_t seed) {
    search(from, to, rule);
    std::vector<Path> found;
    if (distance_[from] != kUnseen) {
        const std::uint64_t total = ways_[from];
        const std::uint64_t count = std::min<std::uint64_t>(limit, total);
        const bool spreads = count < total && topology_.spread_paths;
        const std::uint64_t stride = spreads ? stride_of(count, total) : total / count;
        std::uint64_t rank = spreads ? seed % total : 0;
        for (std::uint64_t k = 0; k < count; ++k) {
            found.push_back(nth(from, to, rank));
            rank = (rank + stride) % total;
        }
        const Nics nics = rule.network ? nics_of(from, found) : Nics{};
        if (topology_.spread_paths && nics.out * nics.in > 1 && nics.out * nics.in < total &&
            total % (nics.out * nics.in) == 0)
            found = by_nics(from, to, nics, count, seed % total);
    }
    forget();
    return found;
}

std::uint32_t PathFinder::nearest_memory(std::uint32_t node, const Rule& rule) {
    search_all(node, rule);
    std::uint32_t nearest = kUnseen;
    for (const std::uint32_t seen : touched_)
        if (topology_.nodes[seen].kind == NodeKind::kMemory) {
            nearest = seen;
            break;
        }
    forget();
    return nearest;
}

/// Paths through all stops, in sequence.
std::vector<Path> PathFinder::staged(
    const std::vector<std::uint32_t>& stops, const Rule& rule, std::uint32_t limit,
    std::uint64_t seed) {
    std::vector<Path> whole(1);
    whole.front().weight = UINT32_MAX;
    for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
        const std::vector<Path> legs = paths(stops[i], stops[i + 1], rule, limit, seed);
        std::vector<Path> longer;
        for (std::size_t k = 0; !legs.empty() && k < std::max(legs.size(), whole.size()); ++k) {
            Path path = whole[k % whole.size()];
            const Path& leg = legs[k % legs.size()];
            path.hops.insert(path.hops.end(), leg.hops.begin(), leg.hops.end());
            path.weight = std::min(path.weight, leg.weight);
            longer.push_back(std::move(path));
        }
        whole = std::move(longer);
        if (whole.empty())
            break;
    }
    return whole;
}

std::vector<Path> PathFinder::shortest(std::uint32_t from, std::uint32_t to, std::uint32_t limit) {
    if (from == to)
        return {};
    if (limit == 0)
        limit = topology_.paths_per_pair;
    const std::uint64_t seed = mix_bits(std::uint64_t{from} << 32U | to);
    const std::uint32_t a = topology_.machine_of(from);
    const std::uint32_t b = topology_.machine_of(to);
    if (a == b) {
        std::vector<Path> own = paths(from, to, {a, a, false, false}, limit, seed);
        if (!own.empty())
            return own;
        if (const auto relay = relays_.between(from, to))
            return {{{relay->to, relay->onward}, relay->lanes}};
    }
    const Rule rule{a, b, a != b, true};
    if (topology_.through_memory) {
        std::vector<std::uint32_t> stops{from};
        for (const std::uint32_t end : {from, to}) {
            const std::uint32_t memory = nearest_memory(end, {rule.machine_a, b, false, true});
            if (memory != kUnseen && stops.back() != memory && (stops.size() == 1 || a != b))
                stops.push_back(memory);
        }
        stops.push_back(to);
        return staged(stops, rule, limit, seed);
    }
    return paths(from, to, rule, limit, seed);
}

}  // namespace switchfold
