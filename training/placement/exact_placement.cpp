// SPDX-License-Identifier: Apache-2.0
#include "training/placement/exact_placement.h"

#include "training/placement/down_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Dependencies of every node; at most 64 nodes.
std::vector<NodeSet> needs_of(const PlacementGraph& graph) {
    std::vector<NodeSet> needs(graph.nodes.size());
    for (std::size_t i = 0; i < needs.size(); ++i)
        for (const std::uint32_t input : graph.nodes[i].inputs)
            needs[i] |= NodeSet{1} << input;
    return needs;
}

template <class F>
void for_each_node(NodeSet set, F f) {
    for (; set != 0; set &= set - 1)
        f(static_cast<std::uint32_t>(std::countr_zero(set)));
}

class Programme {
public:
    Programme(const PlacementGraph& graph, std::vector<NodeSet> sets) :
        graph_(graph),
        sets_(std::move(sets)),
        readers_(graph.nodes.size()),
        own_way_(graph.gpus > 1),
        least_(graph.parts + 1, std::vector<double>(sets_.size(), kNever)) {
        const std::vector<NodeSet> needs = needs_of(graph);
        for (std::uint32_t i = 0; i < needs.size(); ++i)
            for_each_node(
                needs[i], [&](std::uint32_t input) { readers_[input] |= NodeSet{1} << i; });
        for (const NodeSet set : sets_) {
            Sum sum;
            for_each_node(set, [&](std::uint32_t node) {
                sum.work += graph.work(node);
                sum.memory += graph.nodes[node].memory;
                if ((readers_[node] & ~set) != 0)
                    sum.read_later.push_back(node);
            });
            sums_.push_back(std::move(sum));
        }
    }

    std::optional<ExactPlacement> run() {
        bound_below();
        const double bound = least_[graph_.parts].back();
        if (bound == kNever)
            return {};
        parts_.assign(graph_.nodes.size(), 0);
        best_seconds_ = kNever;
        descend(sets_.size() - 1, graph_.parts, 0);
        ExactPlacement found;
        found.parts = without_gaps(best_);
        found.seconds = best_seconds_;
        found.bound = steps_ < kMostSteps ? best_seconds_ : bound;
        found.down_sets = sets_.size();
        return found;
    }

private:
    /// Renumbers parts so that empty ones come last.
    static NodeParts without_gaps(NodeParts parts) {
        std::vector<std::uint32_t> used(parts);
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        for (std::uint32_t& part : parts)
            part = static_cast<std::uint32_t>(
                std::lower_bound(used.begin(), used.end(), part) - used.begin());
        return parts;
    }

    /// Totals over a down-set.
    struct Sum {
        double work = 0;
        double memory = 0;
        std::vector<std::uint32_t> read_later;  ///< nodes read from outside
    };

    [[nodiscard]] double work_between(std::size_t below, std::size_t set) const {
        return sums_[set].work - sums_[below].work;
    }
    [[nodiscard]] bool fits(std::size_t below, std::size_t set) const {
        return graph_.memory <= 0 || sums_[set].memory - sums_[below].memory <= graph_.memory;
    }
    /// Bytes that a part reads from earlier parts.
    [[nodiscard]] double bytes_in(std::size_t below, NodeSet part) const {
        double bytes = 0;
        for (const std::uint32_t node : sums_[below].read_later)
            if ((readers_[node] & part) != 0)
                bytes += graph_.nodes[node].output_bytes;
        return bytes;
    }
    /// Lower bound on the load of the part between two down-sets.
    [[nodiscard]] double at_least(std::size_t below, std::size_t set) const {
        const double work = work_between(below, set);
        if (!own_way_)
            return work;
        const NodeSet part = sets_[set] & ~sets_[below];
        double bytes = bytes_in(below, part);
        for (const std::uint32_t node : sums_[set].read_later)
            if ((part >> node & 1) != 0)
                bytes += graph_.nodes[node].output_bytes;
        return std::max(work, graph_.port(bytes));
    }

    /// least_[k][i]: lower bound on the busiest part if k parts share the i-th down-set.
    void bound_below() {
        std::fill(least_[0].begin(), least_[0].end(), kNever);
        for (auto& of_parts : least_)
            of_parts[0] = 0;
        for (std::size_t set = 1; set < sets_.size(); ++set) {
            for (std::size_t below = set; below-- > 0;) {
                if ((sets_[below] & ~sets_[set]) != 0 || !fits(below, set))
                    continue;
                const double busy = at_least(below, set);
                for (std::uint32_t k = 1; k <= graph_.parts; ++k)
                    least_[k][set] = std::min(least_[k][set], std::max(least_[k - 1][below], busy));
            }
            // Parts may be empty.
            for (std::uint32_t k = 1; k <= graph_.parts; ++k)
                least_[k][set] = std::min(least_[k][set], least_[k - 1][set]);
        }
    }

    /// Bytes of the part's outputs, counted once for every later part that reads them.
    [[nodiscard]] double bytes_out(NodeSet part, std::uint32_t number) const {
        double bytes = 0;
        for_each_node(part, [&](std::uint32_t node) {
            std::uint32_t elsewhere = 0;
            for_each_node(readers_[node] & ~part, [&](std::uint32_t reader) {
                elsewhere |= 1U << (parts_[reader] - number);
            });
            bytes += std::popcount(elsewhere) * graph_.nodes[node].output_bytes;
        });
        return bytes;
    }

    /// Branch and bound: parts after `set` are fixed; chooses the k-th part as the difference
    /// between this down-set and a smaller one.
    void descend(std::size_t set, std::uint32_t k, double so_far) {
        if (set == 0) {
            if (so_far < best_seconds_) {
                best_seconds_ = so_far;
                best_ = parts_;
            }
            return;
        }
        if (k == 0 || steps_ >= kMostSteps)
            return;
        std::vector<std::pair<double, std::size_t>> next;
        for (std::size_t below = 0; below <= set; ++below) {
            if ((sets_[below] & ~sets_[set]) != 0 || !fits(below, set))
                continue;
            const double floor = std::max({so_far, least_[k - 1][below], work_between(below, set)});
            if (floor < best_seconds_)
                next.emplace_back(floor, below);
        }
        std::stable_sort(next.begin(), next.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        for (const auto& [floor, below] : next) {
            if (floor >= best_seconds_ || ++steps_ >= kMostSteps)
                return;
            const NodeSet part = sets_[set] & ~sets_[below];
            for_each_node(part, [&](std::uint32_t node) { parts_[node] = k - 1; });
            const double bytes = own_way_ ? bytes_in(below, part) + bytes_out(part, k - 1) : 0;
            const double busy = std::max(floor, graph_.port(bytes));
            if (busy < best_seconds_)
                descend(below, k - 1, busy);
            if (best_seconds_ <= least_[graph_.parts].back())
                return;  // matches the lower bound
        }
    }

    static constexpr std::uint64_t kMostSteps = 2'000'000;

    const PlacementGraph& graph_;
    std::vector<NodeSet> sets_;
    std::vector<NodeSet> readers_;
    bool own_way_;  ///< whether each part has its own GPU
    std::vector<Sum> sums_;
    std::vector<std::vector<double>> least_;
    NodeParts parts_;
    NodeParts best_;
    double best_seconds_ = kNever;
    std::uint64_t steps_ = 0;
};

}  // namespace

std::string why_no_exact_placement(const PlacementGraph& graph) {
    if (graph.nodes.size() > kMostExactNodes)
        return fmt::format(
            "has {} layers, more than the {} that are divided exactly", graph.nodes.size(),
            kMostExactNodes);
    if (graph.parts > kMostExactParts)
        return fmt::format(
            "is for {} parts, more than the {} that are found exactly", graph.parts,
            kMostExactParts);
    if (!down_sets(needs_of(graph), kMostDownSets))
        return fmt::format(
            "has so many branches beside each other that there are more than {} down-sets to look "
            "at",
            kMostDownSets);
    return {};
}

std::optional<ExactPlacement> exact_placement(const PlacementGraph& graph) {
    auto sets = down_sets(needs_of(graph), kMostDownSets);
    return Programme(graph, std::move(*sets)).run();
}

}  // namespace switchfold
