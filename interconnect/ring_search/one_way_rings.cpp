// SPDX-License-Identifier: Apache-2.0
#include "interconnect/ring_search/searches.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

class OneWaySearch {
public:
    explicit OneWaySearch(const LaneTable& lanes) : lanes_(lanes), left_(lanes) {}

    std::vector<Ring> run(std::size_t wanted) {
        std::vector<Ring> best;
        for (std::uint32_t turn = 0;
             turn < kTurns && best.size() < wanted && looked_at_ < kMostLanesLookedAt; ++turn) {
            left_ = lanes_;
            std::vector<Ring> rings;
            while (rings.size() < wanted && extend()) {
                left_.take(path_);
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
        const std::uint32_t here = path_.back();
        if (path_.size() == lanes_.size())
            return left_.left(here, 0) > 0;
        if (++steps_ > std::max(kSteps, 2 * lanes_.size()))
            return false;
        // Most lanes left first; ties are broken at random.
        std::vector<std::pair<std::uint32_t, std::uint32_t>> choices;
        for (const LaneTable::Lane& lane : left_.of(here))
            if (!used_[lane.to] && lane.left > 0)
                choices.emplace_back(lane.left << 16U | random(), lane.to);
        looked_at_ += left_.of(here).size();
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
    static constexpr std::size_t kSteps = 200;
    const LaneTable& lanes_;
    LaneTable left_;
    Ring path_;
    std::vector<bool> used_;
    std::uint64_t state_ = 1;
    std::size_t steps_ = 0;
    std::uint64_t looked_at_ = 0;
};

}  // namespace

std::vector<Ring> one_way_rings(const LaneTable& lanes, std::size_t wanted) {
    return OneWaySearch(lanes).run(wanted);
}

}  // namespace switchfold
