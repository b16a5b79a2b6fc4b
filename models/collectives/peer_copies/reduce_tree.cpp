// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/peer_copies/reduce_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace switchfold {

namespace {

/// Loads are sums of the same few numbers; smaller differences are rounding errors.
constexpr double kSame = 1e-9;

bool below(double a, double b) {
    return a < b * (1 - kSame);
}

/// Weight of a minimum spanning tree (Prim).
template <class Weight>
double lightest_tree(std::uint32_t members, Weight weight) {
    std::vector<double> nearest(members, std::numeric_limits<double>::infinity());
    std::vector<bool> in(members, false);
    nearest[0] = 0;
    double sum = 0;
    for (std::uint32_t done = 0; done < members; ++done) {
        std::uint32_t next = members;
        for (std::uint32_t m = 0; m < members; ++m)
            if (!in[m] && (next == members || nearest[m] < nearest[next]))
                next = m;
        in[next] = true;
        sum += nearest[next];
        for (std::uint32_t m = 0; m < members; ++m)
            if (!in[m])
                nearest[m] = std::min(nearest[m], weight(next, m));
    }
    return sum;
}

class Search {
public:
    Search(
        const Wiring& wiring, std::uint32_t root, const std::vector<double>& loaded,
        std::uint64_t most_steps) :
        wiring_(wiring), n_(wiring.members), left_(most_steps), loads_(loaded) {
        for (std::uint32_t a = 0; a < n_; ++a)
            for (std::uint32_t b = a + 1; b < n_; ++b)
                edges_.push_back(make_edge(a, b));
        index_.assign(std::size_t{n_} * n_, 0);
        for (std::uint32_t e = 0; e < edges_.size(); ++e)
            index_[std::size_t{edges_[e].a} * n_ + edges_[e].b] =
                index_[std::size_t{edges_[e].b} * n_ + edges_[e].a] = e;
        forbidden_.assign(edges_.size(), false);
        find_ends();
        best_.bound = bound();
        best_.load = std::numeric_limits<double>::infinity();
        parents_.assign(n_, root);
        depths_.assign(n_, 0);
        in_.assign(n_, false);
        in_[root] = true;
        inside_.push_back(root);
        for (std::uint32_t member = 0; member < n_; ++member)
            for (std::uint32_t other = 0; other < n_; ++other)
                if (other != member)
                    cheapest_ = std::min(cheapest_, edges_[between(member, other)].sum);
        least_sum_ = lightest_tree(
            n_, [&](std::uint32_t a, std::uint32_t b) { return edges_[between(a, b)].sum; });
        grow({*std::max_element(loads_.begin(), loads_.end()), 0, 0});
        best_.proved =
            left_ > 0 || (!below(best_.bound, best_.load) && best_.depth <= least_depth_);
    }
    [[nodiscard]] FoundTree take() { return std::move(best_); }

private:
    struct Edge {
        std::uint32_t a = 0;
        std::uint32_t b = 0;
        std::vector<LinkUse> adds;  ///< seconds per byte, both directions
        double sum = 0;             ///< their sum
    };

    /// Cost of a partial tree: load of its busiest link, its depth, and the sum that it adds to all
    /// links.
    struct Cost {
        double load = 0;
        std::uint32_t depth = 0;
        double sum = 0;
    };

    [[nodiscard]] Edge make_edge(std::uint32_t a, std::uint32_t b) const {
        Edge edge{a, b, {}, 0};
        for (const auto* way : {&wiring_.way(a, b), &wiring_.way(b, a)})
            for (const LinkUse& use : *way) {
                auto at = std::find_if(edge.adds.begin(), edge.adds.end(), [&](const LinkUse& u) {
                    return u.link == use.link;
                });
                if (at == edge.adds.end())
                    at = edge.adds.insert(edge.adds.end(), {use.link, 0});
                at->share += use.share / wiring_.rates[use.link];
                edge.sum += use.share / wiring_.rates[use.link];
            }
        return edge;
    }
    [[nodiscard]] std::uint32_t between(std::uint32_t a, std::uint32_t b) const {
        return index_[std::size_t{a} * n_ + b];
    }

    /// Finds links that each of a member's edges uses exactly once, so that their load limits the
    /// member's number of neighbours.
    void find_ends() {
        ends_.assign(n_, {});
        for (std::uint32_t m = 0; m < n_; ++m) {
            std::vector<std::uint32_t> whole(wiring_.rates.size(), 0);
            for (std::uint32_t other = 0; other < n_; ++other) {
                if (other == m)
                    continue;
                std::vector<double> used(wiring_.rates.size(), 0);
                for (const LinkUse& use : edges_[between(m, other)].adds)
                    used[use.link] += use.share * wiring_.rates[use.link];
                for (std::uint32_t link = 0; link < used.size(); ++link)
                    whole[link] += std::abs(used[link] - 1) < kSame ? 1 : 0;
            }
            for (std::uint32_t link = 0; link < whole.size(); ++link)
                if (whole[link] == n_ - 1)
                    ends_[m].push_back(link);
        }
    }

    /// Lower bound on the busiest link's load: from each link alone, and from the average over the
    /// members' ends.
    [[nodiscard]] double bound() const {
        double least = *std::max_element(loads_.begin(), loads_.end());
        std::vector<double> weights(edges_.size());
        const auto lightest = [&](const auto& counts) {
            for (std::size_t e = 0; e < edges_.size(); ++e) {
                weights[e] = 0;
                for (const LinkUse& use : edges_[e].adds)
                    weights[e] += counts(use.link) ? use.share : 0;
            }
            return lightest_tree(
                n_, [&](std::uint32_t a, std::uint32_t b) { return weights[between(a, b)]; });
        };
        for (std::uint32_t link = 0; link < wiring_.rates.size(); ++link)
            least = std::max(
                least, loads_[link] + lightest([&](std::uint32_t l) { return l == link; }));
        std::vector<bool> end(wiring_.rates.size(), false);
        for (const auto& links : ends_)
            for (const std::uint32_t link : links)
                end[link] = true;
        const auto count = std::count(end.begin(), end.end(), true);
        if (count == 0)
            return least;
        double sum = lightest([&](std::uint32_t l) { return static_cast<bool>(end[l]); });
        // If these links carry only whole arrays, so does the busiest one.
        double unit = 0;
        bool whole = true;
        for (const Edge& edge : edges_)
            for (const LinkUse& use : edge.adds) {
                const double arrays = use.share * wiring_.rates[use.link];
                whole = whole && (!end[use.link] || std::abs(arrays - std::round(arrays)) < kSame);
            }
        for (std::uint32_t link = 0; link < end.size(); ++link) {
            if (!end[link])
                continue;
            sum += loads_[link];
            const double one = 1 / wiring_.rates[link];
            whole = whole && (unit == 0 || std::abs(one - unit) < kSame * unit) &&
                    std::abs(loads_[link] / one - std::round(loads_[link] / one)) < kSame;
            unit = one;
        }
        double average = sum / static_cast<double>(count);
        if (whole)
            average = std::ceil(average / unit - kSame) * unit;
        return std::max(least, average);
    }

    /// Least depth of a tree with this load: the load limits each member's number of neighbours.
    [[nodiscard]] std::uint32_t least_depth(double load) const {
        std::vector<std::uint64_t> most(n_, n_ - 1);
        for (std::uint32_t m = 0; m < n_; ++m)
            for (const std::uint32_t link : ends_[m]) {
                const double room = (load * (1 + kSame) - base(link)) * wiring_.rates[link];
                most[m] = std::min<std::uint64_t>(
                    most[m], static_cast<std::uint64_t>(std::max(room + kSame, 1.0)));
            }
        const std::uint64_t widest = *std::max_element(most.begin(), most.end());
        std::uint64_t level = most[inside_.front()];
        std::uint64_t reached = 1 + level;
        std::uint32_t depth = 1;
        for (; reached < n_; ++depth) {
            level *= widest - 1;
            if (level == 0)
                return n_ - 1;
            reached += level;
        }
        return depth;
    }
    /// A link's load before the search.
    [[nodiscard]] double base(std::uint32_t link) const {
        double now = loads_[link];
        for (const std::uint32_t m : inside_)
            if (m != inside_.front())
                for (const LinkUse& use : edges_[between(m, parents_[m])].adds)
                    now -= use.link == link ? use.share : 0;
        return now;
    }

    /// Branches on the best edge: first with it in the tree, then without it, so that every tree
    /// occurs once. Among edges that do not increase the busiest link's load, those over few links
    /// come first.
    void grow(const Cost& cost) {
        if (left_ == 0)
            return;
        --left_;
        if (inside_.size() == n_)
            return keep(cost);
        std::uint32_t taken = UINT32_MAX;
        std::uint32_t parent = 0;
        double taken_load = 0;
        const auto nearer = [&](std::uint32_t e, std::uint32_t from) {
            return below(edges_[e].sum, edges_[taken].sum) ||
                   (!below(edges_[taken].sum, edges_[e].sum) && depths_[from] < depths_[parent]);
        };
        for (const std::uint32_t from : inside_)
            for (std::uint32_t to = 0; to < n_; ++to) {
                const std::uint32_t e = between(from, to);
                if (in_[to] || forbidden_[e])
                    continue;
                const double then = load_with(edges_[e], cost.load);
                if (taken == UINT32_MAX || below(then, taken_load) ||
                    (!below(taken_load, then) && nearer(e, from))) {
                    taken = e;
                    parent = from;
                    taken_load = then;
                }
            }
        if (taken == UINT32_MAX)
            return;
        const Edge& edge = edges_[taken];
        const std::uint32_t member = edge.a == parent ? edge.b : edge.a;
        const Cost then{taken_load, std::max(cost.depth, depths_[parent] + 1), cost.sum + edge.sum};
        if (may_win(then, n_ - 1 - inside_.size())) {
            for (const LinkUse& use : edge.adds)
                loads_[use.link] += use.share;
            in_[member] = true;
            parents_[member] = parent;
            depths_[member] = depths_[parent] + 1;
            inside_.push_back(member);
            grow(then);
            inside_.pop_back();
            in_[member] = false;
            for (const LinkUse& use : edge.adds)
                loads_[use.link] -= use.share;
        } else if (below(best_.load, taken_load)) {
            return;  // all other edges load some link as much
        }
        if (optimal())
            return;
        forbidden_[taken] = true;
        if (reachable())
            grow(cost);
        forbidden_[taken] = false;
    }

    [[nodiscard]] double load_with(const Edge& edge, double load) const {
        for (const LinkUse& use : edge.adds)
            load = std::max(load, loads_[use.link] + use.share);
        return load;
    }
    /// Whether a tree of this cost plus `more` edges can beat the best.
    [[nodiscard]] bool may_win(const Cost& cost, std::size_t more) const {
        if (below(cost.load, best_.load) || below(best_.load, cost.load))
            return cost.load < best_.load;
        if (cost.depth != best_.depth)
            return cost.depth < best_.depth;
        return below(cost.sum + static_cast<double>(more) * cheapest_, sum_);
    }
    /// Whether the allowed edges connect all members.
    [[nodiscard]] bool reachable() const {
        std::vector<bool> seen(in_);
        std::vector<std::uint32_t> queue(inside_);
        for (std::size_t next = 0; next < queue.size(); ++next)
            for (std::uint32_t to = 0; to < n_; ++to)
                if (!seen[to] && !forbidden_[between(queue[next], to)]) {
                    seen[to] = true;
                    queue.push_back(to);
                }
        return queue.size() == n_;
    }
    void keep(const Cost& cost) {
        if (!may_win(cost, 0))
            return;
        best_.parents = parents_;
        best_.load = cost.load;
        best_.depth = cost.depth;
        sum_ = cost.sum;
        least_depth_ = least_depth(cost.load);
    }
    /// Whether the best tree so far is proved optimal.
    [[nodiscard]] bool optimal() const {
        return !below(best_.bound, best_.load) && best_.depth <= least_depth_ &&
               !below(least_sum_, sum_);
    }

    const Wiring& wiring_;
    std::uint32_t n_;
    std::uint64_t left_;
    std::vector<double> loads_;  ///< seconds per byte, by link
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> index_;
    std::vector<bool> forbidden_;
    std::vector<std::vector<std::uint32_t>> ends_;
    ReduceTree parents_;
    std::vector<std::uint32_t> depths_;
    std::vector<bool> in_;
    std::vector<std::uint32_t> inside_;
    FoundTree best_;
    std::uint32_t least_depth_ = 1;
    double sum_ = 0;  ///< of the best tree
    double least_sum_ = 0;
    double cheapest_ = std::numeric_limits<double>::infinity();  ///< over all edges
};

}  // namespace

FoundTree find_tree(
    const Wiring& wiring, std::uint32_t root, const std::vector<double>& loaded,
    std::uint64_t most_steps) {
    return Search(wiring, root, loaded, most_steps).take();
}

std::vector<FoundTree> find_trees(const Wiring& wiring, std::uint32_t count) {
    std::vector<FoundTree> trees;
    std::vector<double> loaded(wiring.rates.size(), 0);
    for (std::uint32_t i = 0; i < count; ++i) {
        trees.push_back(find_tree(wiring, i * wiring.members / count, loaded));
        add_load(wiring, trees.back().parents, loaded);
    }
    return trees;
}

void add_load(const Wiring& wiring, const ReduceTree& parents, std::vector<double>& loaded) {
    for (std::uint32_t member = 0; member < parents.size(); ++member) {
        if (parents[member] == member)
            continue;
        for (const auto* way :
             {&wiring.way(member, parents[member]), &wiring.way(parents[member], member)})
            for (const LinkUse& use : *way)
                loaded[use.link] += use.share / wiring.rates[use.link];
    }
}

}  // namespace switchfold
