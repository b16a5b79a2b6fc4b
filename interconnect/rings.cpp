// SPDX-License-Identifier: Apache-2.0
#include "interconnect/rings.h"

#include "interconnect/relay.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

using Ring = std::vector<std::uint32_t>;
using Lanes = std::vector<std::vector<std::uint32_t>>;  ///< [from][to]

/// Fewest remaining lanes along a ring, then their sum: the ring with most is taken.
std::pair<std::uint32_t, std::uint32_t> room(const Lanes& lanes, const Ring& ring) {
    std::pair<std::uint32_t, std::uint32_t> found{UINT32_MAX, 0};
    for (std::size_t i = 0; i < ring.size(); ++i) {
        const std::uint32_t left = lanes[ring[i]][ring[(i + 1) % ring.size()]];
        found.first = std::min(found.first, left);
        found.second += left;
    }
    return found;
}

/// Upper bound on the number of rings: each needs a lane of its own out of every GPU.
std::size_t most_rings(const Lanes& lanes) {
    std::uint32_t most = UINT32_MAX;
    for (const auto& row : lanes)
        most = std::min(most, std::accumulate(row.begin(), row.end(), 0U));
    return most;
}

/// Depth-first search for Hamiltonian cycles on the remaining direct lanes, each cycle used in both
/// directions. For small machines only: direct links connect at most a dozen GPUs.
class PairedRingSearch {
public:
    explicit PairedRingSearch(const Lanes& lanes) : lanes_(lanes) {}

    /// Takes one cycle after another, those with most remaining lanes first, backtracks when none
    /// is left, and keeps the largest set.
    std::vector<Ring> run() {
        std::vector<Ring> rings;
        search(rings);
        return best_;
    }

private:
    void search(std::vector<Ring>& rings) {
        if (rings.size() > best_.size())
            best_ = rings;
        if (++visits_ > kVisits || rings.size() + most_rings(lanes_) / 2 <= best_.size())
            return;
        std::vector<Ring> cycles;
        Ring path{0};
        std::vector<bool> used(lanes_.size(), false);
        used[0] = true;
        collect(path, used, cycles);
        std::stable_sort(cycles.begin(), cycles.end(), [&](const Ring& a, const Ring& b) {
            return room(lanes_, a) > room(lanes_, b);
        });
        for (const Ring& cycle : cycles) {
            take(cycle, -1);
            rings.push_back(cycle);
            search(rings);
            rings.pop_back();
            take(cycle, +1);
            if (visits_ > kVisits)
                return;
        }
    }

    void collect(Ring& path, std::vector<bool>& used, std::vector<Ring>& cycles) {
        const std::size_t n = lanes_.size();
        if (cycles.size() >= kCycles)
            return;
        if (path.size() == n) {
            // Each undirected cycle once: the second node must be smaller than the last.
            if (lanes_[path.back()][0] > 0 && path[1] < path.back())
                cycles.push_back(path);
            return;
        }
        for (std::uint32_t next = 0; next < n; ++next)
            if (!used[next] && lanes_[path.back()][next] > 0) {
                used[next] = true;
                path.push_back(next);
                collect(path, used, cycles);
                path.pop_back();
                used[next] = false;
            }
    }

    void take(const Ring& cycle, int delta) {
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            const std::uint32_t a = cycle[i];
            const std::uint32_t b = cycle[(i + 1) % cycle.size()];
            lanes_[a][b] += static_cast<std::uint32_t>(delta);
            lanes_[b][a] += static_cast<std::uint32_t>(delta);
        }
    }

    static constexpr std::uint32_t kVisits = 2000;
    static constexpr std::size_t kCycles = 256;
    Lanes lanes_;
    std::vector<Ring> best_;
    std::uint32_t visits_ = 0;
};

/// Finds additional one-way rings if pairs leave lanes unused (a full mesh of 8 has seven lanes per
/// GPU, an odd number): random rings with many restarts, in a fixed pseudo-random sequence.
class OneWayRingSearch {
public:
    explicit OneWayRingSearch(const Lanes& lanes) : lanes_(lanes) {}

    std::vector<Ring> run(std::size_t wanted) {
        std::vector<Ring> best;
        for (std::uint32_t turn = 0; turn < kTurns && best.size() < wanted; ++turn) {
            left_ = lanes_;
            std::vector<Ring> rings;
            while (rings.size() < wanted && extend()) {
                for (std::size_t i = 0; i < path_.size(); ++i)
                    --left_[path_[i]][path_[(i + 1) % path_.size()]];
                rings.push_back(path_);
            }
            if (rings.size() > best.size())
                best = std::move(rings);
        }
        return best;
    }

private:
    bool extend() {
        path_.assign(1, 0);
        used_.assign(lanes_.size(), false);
        used_[0] = true;
        steps_ = 0;
        return step();
    }

    bool step() {
        const std::size_t n = lanes_.size();
        const std::uint32_t here = path_.back();
        if (path_.size() == n)
            return left_[here][0] > 0;
        if (++steps_ > kSteps)
            return false;
        // Most remaining lanes first; ties are broken at random.
        std::vector<std::pair<std::uint32_t, std::uint32_t>> choices;
        for (std::uint32_t next = 0; next < n; ++next)
            if (!used_[next] && left_[here][next] > 0)
                choices.emplace_back(left_[here][next] << 16U | random(), next);
        std::sort(choices.rbegin(), choices.rend());
        for (const auto& [order, next] : choices) {
            used_[next] = true;
            path_.push_back(next);
            if (step())
                return true;
            path_.pop_back();
            used_[next] = false;
        }
        return false;
    }

    /// The upper 16 bits of a linear congruential sequence (Knuth's MMIX constants).
    std::uint32_t random() {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>(state_ >> 48U);
    }

    static constexpr std::uint32_t kTurns = 4000;
    static constexpr std::uint32_t kSteps = 200;
    Lanes lanes_;
    Lanes left_;
    Ring path_;
    std::vector<bool> used_;
    std::uint64_t state_ = 1;
    std::uint32_t steps_ = 0;
};

std::vector<Ring> rings_on(const Lanes& lanes) {
    const std::size_t most = most_rings(lanes);
    if (lanes.size() == 2)
        return std::vector<Ring>(most, Ring{0, 1});
    // The two directions alternate, so that any number of channels loads both alike.
    std::vector<Ring> rings;
    for (const Ring& ring : PairedRingSearch(lanes).run()) {
        rings.push_back(ring);
        rings.emplace_back(ring);
        std::reverse(rings.back().begin() + 1, rings.back().end());
    }
    if (rings.size() < most) {
        std::vector<Ring> one_way = OneWayRingSearch(lanes).run(most);
        if (one_way.size() > rings.size())
            return one_way;
    }
    return rings;
}

/// Rings in which some neighbours have no direct link: a relay connects them, and the ring takes a
/// lane to it and one from it. Takes one ring after another, in both directions if lanes are left.
class RelayedRingSearch {
public:
    RelayedRingSearch(
        const Lanes& lanes, const Relays& relays, const std::vector<std::uint32_t>& ranks) :
        lanes_(lanes), between_(ranks.size(), Ring(ranks.size(), kNone)) {
        for (std::uint32_t a = 0; a < ranks.size(); ++a)
            for (std::uint32_t b = 0; b < ranks.size(); ++b)
                if (const auto relay = relays.between(ranks[a], ranks[b]); relay && a != b) {
                    const auto member = std::find(ranks.begin(), ranks.end(), relay->gpu);
                    if (member != ranks.end())  // only GPUs of the group may relay
                        between_[a][b] = static_cast<std::uint32_t>(member - ranks.begin());
                }
    }

    std::vector<Ring> run() {
        std::vector<Ring> rings;
        for (;;) {
            path_.assign(1, 0);
            used_.assign(lanes_.size(), false);
            used_[0] = true;
            steps_ = 0;
            if (!extend())
                return rings;
            rings.push_back(path_);
            Ring back = path_;
            std::reverse(back.begin() + 1, back.end());
            if (take_whole(back))
                rings.push_back(std::move(back));
        }
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    static constexpr std::uint32_t kSteps = 20'000;

    /// Takes the lanes of a hop. \returns false, without taking any, if some are used up.
    bool take(std::uint32_t from, std::uint32_t to) {
        if (direct(from, to))
            return take_lane(from, to);
        const std::uint32_t relay = between_[from][to];
        if (relay == kNone || !take_lane(from, relay))
            return false;
        if (take_lane(relay, to))
            return true;
        ++lanes_[from][relay];
        return false;
    }
    void give_back(std::uint32_t from, std::uint32_t to) {
        if (direct(from, to)) {
            ++lanes_[from][to];
            return;
        }
        ++lanes_[from][between_[from][to]];
        ++lanes_[between_[from][to]][to];
    }
    /// Whether a link joins them, even without remaining lanes: their packets use it.
    [[nodiscard]] bool direct(std::uint32_t from, std::uint32_t to) const {
        return all_[from][to] > 0;
    }
    bool take_lane(std::uint32_t from, std::uint32_t to) {
        if (lanes_[from][to] == 0)
            return false;
        --lanes_[from][to];
        return true;
    }

    /// Turns the path into a ring and takes its lanes. \returns false, without changes, if
    /// impossible.
    bool extend() {
        const std::uint32_t here = path_.back();
        if (path_.size() == lanes_.size())
            return take(here, 0);
        for (std::uint32_t next = 0; next < lanes_.size() && ++steps_ < kSteps; ++next) {
            if (used_[next] || !take(here, next))
                continue;
            used_[next] = true;
            path_.push_back(next);
            if (extend())
                return true;
            path_.pop_back();
            used_[next] = false;
            give_back(here, next);
        }
        return false;
    }

    bool take_whole(const Ring& ring) {
        for (std::size_t i = 0; i < ring.size(); ++i)
            if (!take(ring[i], ring[(i + 1) % ring.size()])) {
                while (i-- > 0)
                    give_back(ring[i], ring[i + 1]);
                return false;
            }
        return true;
    }

    Lanes lanes_;
    Lanes all_ = lanes_;         ///< before any were taken
    std::vector<Ring> between_;  ///< [from][to]: the relaying member
    Ring path_;
    std::vector<bool> used_;
    std::uint32_t steps_ = 0;
};

}  // namespace

std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    std::vector<std::uint32_t> position(topology.nodes.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        position[ranks[i]] = i;
    std::vector<std::vector<std::uint32_t>> lanes(
        ranks.size(), std::vector<std::uint32_t>(ranks.size(), 0));
    bool direct = false;
    bool through_switch = false;
    for (const TopologyEdge& edge : topology.edges) {
        if (edge.down)
            continue;
        const std::uint32_t a = position[edge.a];
        const std::uint32_t b = position[edge.b];
        if (a != UINT32_MAX && b != UINT32_MAX) {
            lanes[a][b] += edge.lanes;
            lanes[b][a] += edge.lanes;
            direct = true;
        } else if (
            topology.nodes[edge.a].kind != NodeKind::kGpu ||
            topology.nodes[edge.b].kind != NodeKind::kGpu) {
            through_switch = through_switch || a != UINT32_MAX || b != UINT32_MAX;
        }
    }
    if (!direct) {
        std::vector<std::vector<std::uint32_t>> rings;
        if (through_switch || ranks.size() == 1)
            rings.push_back(ranks);
        return rings;
    }
    auto rings = rings_on(lanes);
    if (rings.empty() && topology.relays)
        rings = RelayedRingSearch(lanes, Relays(topology), ranks).run();
    for (auto& ring : rings)
        for (auto& member : ring)
            member = ranks[member];
    return rings;
}

}  // namespace switchfold
