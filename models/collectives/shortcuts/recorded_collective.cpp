// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/recorded_collective.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace switchfold {

namespace {

// Shares of its time: members who come at distances so alike pass alike. Beside kernels, which hide
// it, who come a little further apart pass nearly so, as if all began when the last came.
constexpr std::uint64_t kAlike = 200;
constexpr std::uint64_t kMostIgnored = 25;
constexpr Time kIgnored = microseconds(5);

}  // namespace

Time RecordedCollective::first_done() const {
    const auto first =
        std::find_if(told.begin(), told.end(), [](const Told& t) { return t.left == 0; });
    return first == told.end() ? Time() : first->at;
}

double RecordedCollective::first_work() const {
    const auto first =
        std::find_if(told.begin(), told.end(), [](const Told& t) { return t.left == 0; });
    return first == told.end() ? 0 : first->work;
}

bool RecordedCollective::beside_kernels() const {
    return std::any_of(legs.begin(), legs.end(), [](const Leg& leg) { return leg.left < 1; });
}

void RecordedCollective::count_work(const std::function<double(double left)>& pace) {
    const auto picoseconds = [](Time from, Time end) {
        return static_cast<double>((end - from).count());
    };
    std::vector<double> paces;   // by leg
    std::vector<double> before;  // work that is done when a leg begins
    for (std::size_t i = 0; i < legs.size(); ++i) {
        before.push_back(
            i == 0 ? 0
                   : before.back() + paces.back() * picoseconds(legs[i - 1].from, legs[i].from));
        paces.push_back(pace(legs[i].left));
    }
    const auto legs_from = [&](Time time) {
        return static_cast<std::size_t>(
            std::ranges::upper_bound(legs, time, {}, &Leg::from) - legs.begin());
    };
    const auto until = [&](Time time) {
        const auto begun = static_cast<std::size_t>(
            std::ranges::lower_bound(legs, time, {}, &Leg::from) - legs.begin());
        if (begun == 0)
            return 0.0;
        return before[begun - 1] + paces[begun - 1] * picoseconds(legs[begun - 1].from, time);
    };
    before_work = until(begins);
    for (Flow& flow : flows) {
        flow.work = until(flow.from);
        flow.each = flow.rate / paces[legs_from(flow.from) - 1] * 1e-12;
    }
    const Time first = first_done();
    for (Told& t : told)
        t.work = until(std::min(t.at, first));
}

Time RecordedCollective::ignored() const {
    const Time first = first_done();
    if (!beside_kernels())
        return first / kAlike;
    return std::max(first / kAlike, std::min(first / kMostIgnored, kIgnored));
}

Time RecordedCollective::differs(const Joining& other) const {
    return std::max(joining.spread, other.spread) - std::min(joining.spread, other.spread);
}

bool RecordedCollective::joined_like(const Joining& other) const {
    return !joining.late && !other.late && differs(other) <= first_done() / kAlike;
}

bool RecordedCollective::suits(const Joining& other) const {
    if (joining.late != other.late)
        return false;
    // Nobody can move more before the last has come than the whole.
    return joining.late ? std::min(joining.alone, other.alone) >= told.back().at
                        : differs(other) <= ignored();
}

}  // namespace switchfold
