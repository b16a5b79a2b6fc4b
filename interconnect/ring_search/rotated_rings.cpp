// SPDX-License-Identifier: Apache-2.0
#include "interconnect/ring_search/searches.h"

#include <algorithm>
#include <random>
#include <utility>

namespace switchfold {

namespace {

class RotatedSearch {
public:
    explicit RotatedSearch(const LaneTable& lanes) :
        lanes_(lanes), position_(lanes.size()), ways_on_(lanes.size()) {}

    std::vector<Ring> run() {
        std::vector<Ring> rings;
        while (find()) {
            std::rotate(path_.begin(), std::find(path_.begin(), path_.end(), 0U), path_.end());
            rings.push_back(path_);
            rings.push_back(reversed(path_));
            lanes_.take(rings.rbegin()[0]);
            lanes_.take(rings.rbegin()[1]);
        }
        return rings;
    }

private:
    /// \returns false if the path did not become a ring within the bound, which is for each.
    bool find() {
        const std::uint64_t most = looked_at_ + kMostLanesLookedAt;
        start();
        while (looked_at_ < most) {
            if (extend())
                continue;
            if (path_.size() == lanes_.size() && lanes_.left(path_.back(), path_.front()) > 0)
                return true;
            if (!rotate())
                return false;
        }
        return false;
    }

    void start() {
        for (std::uint32_t member = 0; member < lanes_.size(); ++member)
            ways_on_[member] = static_cast<std::size_t>(std::count_if(
                lanes_.of(member).begin(), lanes_.of(member).end(),
                [](const auto& lane) { return lane.left > 0; }));
        position_.assign(lanes_.size(), kOutside);
        path_.clear();
        append(0);
    }

    void append(std::uint32_t member) {
        position_[member] = path_.size();
        path_.push_back(member);
        for (const LaneTable::Lane& lane : lanes_.of(member))
            if (lane.left > 0)
                --ways_on_[lane.to];
    }

    /// Appends the member outside the path that has the fewest ways on: later it may have none.
    bool extend() {
        std::uint32_t best = kNobody;
        std::uint32_t equal = 0;
        looked_at_ += lanes_.of(path_.back()).size();
        for (const LaneTable::Lane& lane : lanes_.of(path_.back())) {
            if (lane.left == 0 || position_[lane.to] != kOutside)
                continue;
            if (best == kNobody || ways_on_[lane.to] < ways_on_[best]) {
                best = lane.to;
                equal = 1;
            } else if (ways_on_[lane.to] == ways_on_[best] && random_() % ++equal == 0) {
                best = lane.to;
            }
        }
        if (best == kNobody)
            return false;
        append(best);
        return true;
    }

    /// Joins the path's end to a random neighbour on the path and cuts behind that, so that another
    /// member becomes the end; or turns the whole path round, so that it grows at the other end.
    bool rotate() {
        if (path_.size() < 3)
            return false;
        std::vector<std::size_t> choices{0};
        for (const LaneTable::Lane& lane : lanes_.of(path_.back()))
            if (lane.left > 0 && position_[lane.to] + 2 < path_.size())
                choices.push_back(position_[lane.to] + 1);
        const std::size_t from = choices[random_() % choices.size()];
        std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(from), path_.end());
        for (std::size_t i = from; i < path_.size(); ++i)
            position_[path_[i]] = i;
        looked_at_ += choices.size() + (path_.size() - from);
        return true;
    }

    static constexpr std::size_t kOutside = SIZE_MAX;
    static constexpr std::uint32_t kNobody = UINT32_MAX;
    LaneTable lanes_;
    Ring path_;
    std::vector<std::size_t> position_;  ///< in the path, by member
    std::vector<std::size_t> ways_on_;   ///< by member: neighbours outside the path
    std::minstd_rand random_;
    std::uint64_t looked_at_ = 0;
};

}  // namespace

std::vector<Ring> rotated_rings(const LaneTable& lanes) {
    return RotatedSearch(lanes).run();
}

}  // namespace switchfold
