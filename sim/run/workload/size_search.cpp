// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/size_search.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace switchfold {

namespace {

constexpr int kMostTrials = 12;
constexpr double kNear = 0.01;  // of the wanted time
constexpr double kFirstGrains = 64;
constexpr double kMostGrowth = 16;  // one trial after another: latency tells nothing of bandwidth
constexpr double kMostGrains = 1ULL << 36U;

struct Trial {
    double grains;
    double time;
};

}  // namespace

Bytes size_that_takes(Time wanted, Bytes grain, const std::function<Time(Bytes)>& time_of) {
    const auto goal = static_cast<double>(wanted.count());
    const auto try_out = [&](double grains) {
        const auto count = static_cast<std::uint64_t>(grains);
        return Trial{grains, static_cast<double>(time_of(Bytes(count * grain.count())).count())};
    };
    Trial below = try_out(1);
    Trial nearest = below;
    std::optional<Trial> above;
    double next = kFirstGrains;
    for (int i = 1; i < kMostTrials && below.time < goal; ++i) {
        const Trial trial = try_out(next);
        if (std::abs(trial.time - goal) < std::abs(nearest.time - goal))
            nearest = trial;
        if (std::abs(trial.time - goal) <= kNear * goal)
            break;
        // Times between two sizes, and beyond them, lie on a line.
        const Trial before = below;
        if (trial.time < goal)
            below = trial;
        else
            above = trial;
        const Trial& other = above ? *above : before;
        const double slope = (other.time - below.time) / (other.grains - below.grains);
        const double most =
            above ? above->grains - 1 : std::min(below.grains * kMostGrowth, kMostGrains);
        if (most <= below.grains)
            break;
        const double guess = slope > 0 ? below.grains + (goal - below.time) / slope : most;
        next = std::clamp(std::round(guess), below.grains + 1, most);
    }
    return Bytes(static_cast<std::uint64_t>(nearest.grains) * grain.count());
}

}  // namespace switchfold
