// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/size_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace switchfold {

namespace {

constexpr int kMostTrials = 12;
constexpr std::uint64_t kFirstGrains = 64;
constexpr std::uint64_t kMostGrowth = 16;  // a trial: latency tells nothing of bandwidth
constexpr std::uint64_t kMostGrains = 1ULL << 36U;

double distance(Time a, Time b) {
    return std::abs(static_cast<double>(a.count()) - static_cast<double>(b.count()));
}

using Trial = std::pair<const std::uint64_t, Time>;

/// Where the line through two trials takes `wanted`.
double on_line(const Trial& a, const Trial& b, Time wanted) {
    const auto time = [](Time t) { return static_cast<double>(t.count()); };
    const double grains = static_cast<double>(b.first) - static_cast<double>(a.first);
    const double slope = (time(b.second) - time(a.second)) / grains;
    return slope > 0 ? static_cast<double>(a.first) + (time(wanted) - time(a.second)) / slope
                     : HUGE_VAL;
}

std::uint64_t whole(double grains, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint64_t>(
        std::clamp(std::round(grains), static_cast<double>(least), static_cast<double>(most)));
}

}  // namespace

SizeSearch::SizeSearch(Bytes grain, std::function<Time(Bytes)> time_of) :
    grain_(grain), time_of_(std::move(time_of)) {}

bool SizeSearch::near(Time time, Time wanted, double share) {
    return distance(time, wanted) <= share * static_cast<double>(wanted.count());
}

void SizeSearch::try_out(std::uint64_t grains) {
    tried_.emplace(grains, time_of_(Bytes(grains * grain_.count())));
}

SizeSearch::Found SizeSearch::nearest(Time wanted) const {
    const auto best =
        std::min_element(tried_.begin(), tried_.end(), [&](const auto& a, const auto& b) {
            return distance(a.second, wanted) < distance(b.second, wanted);
        });
    const bool between = std::any_of(tried_.begin(), tried_.end(), [&](const auto& tried) {
        return best->second < wanted ? tried.second > wanted : tried.second < wanted;
    });
    const bool taken = near(best->second, wanted, between ? kJump : kNear);
    return {Bytes(best->first * grain_.count()), best->second, taken};
}

SizeSearch::Found SizeSearch::find(Time wanted) {
    std::uint64_t width = 0;  // of the interval of the trial before
    for (int trial = 0; trial < kMostTrials; ++trial) {
        if (tried_.empty()) {
            try_out(1);
            continue;
        }
        if (near(nearest(wanted).time, wanted))
            break;
        const auto above = std::find_if(tried_.begin(), tried_.end(), [&](const auto& tried) {
            return tried.second >= wanted;
        });
        if (above == tried_.begin())
            break;  // the least takes longer
        const auto below = std::prev(above);
        if (above == tried_.end()) {
            if (below->first >= kMostGrains)
                break;
            const std::uint64_t most = std::min(below->first * kMostGrowth, kMostGrains);
            const bool first = below == tried_.begin();
            try_out(
                first ? kFirstGrains
                      : whole(on_line(*std::prev(below), *below, wanted), below->first + 1, most));
            continue;
        }
        const std::uint64_t apart = above->first - below->first;
        if (apart == 1)
            break;
        // Times between two sizes lie near a line, unless the protocol changes there: a line that
        // has not halved the interval then loses to its middle.
        const bool halve = width != 0 && 2 * apart > width;
        const double guess =
            halve ? static_cast<double>(below->first) + static_cast<double>(apart) / 2
                  : on_line(*below, *above, wanted);
        width = halve ? 0 : apart;
        try_out(whole(guess, below->first + 1, above->first - 1));
    }
    return nearest(wanted);
}

}  // namespace switchfold
