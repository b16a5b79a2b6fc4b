// SPDX-License-Identifier: Apache-2.0
#include "interconnect/ring_search/searches.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

/// Fewest lanes left along a ring, then their sum: the ring with most is taken first.
std::pair<std::uint32_t, std::uint32_t> room(const LaneTable& lanes, const Ring& ring) {
    std::pair<std::uint32_t, std::uint32_t> found{UINT32_MAX, 0};
    for (std::size_t i = 0; i < ring.size(); ++i) {
        const std::uint32_t left = lanes.left(ring[i], ring[(i + 1) % ring.size()]);
        found.first = std::min(found.first, left);
        found.second += left;
    }
    return found;
}

/// Depth first: takes one ring after another, backtracks when none is left, and keeps the largest
/// set.
class PairedSearch {
public:
    explicit PairedSearch(LaneTable lanes) : lanes_(std::move(lanes)) {}

    std::vector<Ring> run() {
        std::vector<Ring> rings;
        search(rings);
        return std::move(best_);
    }

private:
    void search(std::vector<Ring>& rings) {
        if (rings.size() > best_.size())
            best_ = rings;
        if (++visits_ > kVisits || rings.size() + lanes_.most_rings() / 2 <= best_.size())
            return;
        std::vector<Ring> choices = all_rings();
        std::stable_sort(choices.begin(), choices.end(), [&](const Ring& a, const Ring& b) {
            return room(lanes_, a) > room(lanes_, b);
        });
        for (const Ring& ring : choices) {
            const Ring back = reversed(ring);
            lanes_.take(ring);
            lanes_.take(back);
            rings.push_back(ring);
            search(rings);
            rings.pop_back();
            lanes_.give_back(ring);
            lanes_.give_back(back);
            if (visits_ > kVisits || looked_at_ > kMostLanesLookedAt)
                return;
        }
    }

    /// The first rings, in the order of members, on the lanes left.
    std::vector<Ring> all_rings() {
        std::vector<Ring> rings;
        Ring path{0};
        std::vector<bool> used(lanes_.size(), false);
        used[0] = true;
        collect(path, used, rings);
        return rings;
    }

    void collect(Ring& path, std::vector<bool>& used, std::vector<Ring>& rings) {
        if (path.size() == lanes_.size()) {
            // Each ring once, not in both directions: the second member is below the last.
            if (lanes_.left(path.back(), 0) > 0 && path[1] < path.back())
                rings.push_back(path);
            return;
        }
        for (const LaneTable::Lane& lane : lanes_.of(path.back())) {
            if (rings.size() >= kRings || ++looked_at_ > kMostLanesLookedAt)
                return;
            if (used[lane.to] || lane.left == 0)
                continue;
            used[lane.to] = true;
            path.push_back(lane.to);
            collect(path, used, rings);
            path.pop_back();
            used[lane.to] = false;
        }
    }

    static constexpr std::uint32_t kVisits = 2000;
    static constexpr std::size_t kRings = 256;  ///< to choose from
    LaneTable lanes_;
    std::vector<Ring> best_;
    std::uint32_t visits_ = 0;
    std::uint64_t looked_at_ = 0;
};

}  // namespace

std::vector<Ring> paired_rings(const LaneTable& lanes) {
    std::vector<Ring> rings;
    for (const Ring& ring : PairedSearch(lanes).run()) {
        rings.push_back(ring);
        rings.push_back(reversed(ring));
    }
    return rings;
}

}  // namespace switchfold
