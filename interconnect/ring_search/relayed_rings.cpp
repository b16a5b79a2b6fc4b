// SPDX-License-Identifier: Apache-2.0
#include "interconnect/ring_search/searches.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

class RelayedSearch {
public:
    RelayedSearch(
        LaneTable lanes, const Relays& relays, const std::vector<std::uint32_t>& members) :
        lanes_(std::move(lanes)), relays_(relays), members_(members) {}

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
            Ring back = reversed(path_);
            if (take_whole(back))
                rings.push_back(std::move(back));
        }
    }

private:
    static constexpr std::uint32_t kSteps = 20'000;

    /// The member that relays between two; only GPUs of the group may.
    [[nodiscard]] std::optional<std::uint32_t> relay(std::uint32_t from, std::uint32_t to) const {
        const auto found = relays_.between(members_[from], members_[to]);
        if (!found)
            return std::nullopt;
        const auto at = std::lower_bound(members_.begin(), members_.end(), found->gpu);
        if (at == members_.end() || *at != found->gpu)
            return std::nullopt;
        return static_cast<std::uint32_t>(at - members_.begin());
    }

    /// Takes the lanes of a hop. \returns false, without taking any, if some are used up.
    bool take(std::uint32_t from, std::uint32_t to) {
        // Packets between neighbours use their link, even if no lane of it is left.
        if (lanes_.direct(from, to))
            return lanes_.take(from, to);
        const std::optional<std::uint32_t> by = relay(from, to);
        if (!by || !lanes_.take(from, *by))
            return false;
        if (lanes_.take(*by, to))
            return true;
        lanes_.give_back(from, *by);
        return false;
    }
    void give_back(std::uint32_t from, std::uint32_t to) {
        if (lanes_.direct(from, to)) {
            lanes_.give_back(from, to);
            return;
        }
        const std::uint32_t by = relay(from, to).value();
        lanes_.give_back(from, by);
        lanes_.give_back(by, to);
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

    LaneTable lanes_;
    const Relays& relays_;
    const std::vector<std::uint32_t>& members_;
    Ring path_;
    std::vector<bool> used_;
    std::uint32_t steps_ = 0;
};

}  // namespace

std::vector<Ring> relayed_rings(
    const LaneTable& lanes, const Relays& relays, const std::vector<std::uint32_t>& members) {
    return RelayedSearch(lanes, relays, members).run();
}

}  // namespace switchfold
