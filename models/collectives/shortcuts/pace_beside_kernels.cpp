// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/pace_beside_kernels.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

// Packets come in bursts: a pace is known after so long, or after this share of all that was
// measured.
constexpr double kLongEnough = 20e-6;
constexpr double kMuchOfAll = 0.1;
// A share of the bandwidth is like a measured one so near, or between two no further apart.
constexpr double kNear = 0.06;
constexpr double kFarApart = 0.3;
constexpr double kEqual = 0.03;
// Who needs no more than this share of what is left is not limited by it, though packets come in
// bursts.
constexpr double kEnough = 0.5;

}  // namespace

void PaceBesideKernels::add(double left, double seconds, double bytes) {
    const auto at = static_cast<std::size_t>(
        std::lround(std::clamp(left, 0.0, 1.0) * static_cast<double>(kClasses - 1)));
    Measured& measured = classes_.at(at);
    measured.left += left * seconds;
    measured.seconds += seconds;
    measured.bytes += bytes;
    seconds_ += seconds;
}

void PaceBesideKernels::add(const PaceBesideKernels& other) {
    for (const Measured& measured : other.classes_)
        if (measured.seconds > 0)
            add(measured.share(), measured.seconds, measured.bytes);
}

bool PaceBesideKernels::known(const Measured& measured) const {
    return measured.bytes > 0 && measured.seconds >= std::min(kLongEnough, kMuchOfAll * seconds_);
}

PaceBesideKernels::Neighbours PaceBesideKernels::neighbours(double left) const {
    Neighbours both;
    for (const Measured& measured : classes_) {
        if (!known(measured))
            continue;
        if (measured.share() <= left)
            both.below = &measured;
        else if (both.above == nullptr)
            both.above = &measured;
    }
    return both;
}

bool PaceBesideKernels::nothing() const {
    return std::none_of(classes_.begin(), classes_.end(), [this](const Measured& measured) {
        return known(measured);
    });
}

const PaceBesideKernels::Measured& PaceBesideKernels::longest() const {
    return *std::max_element(
        classes_.begin(), classes_.end(),
        [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
}

double PaceBesideKernels::relative(double pace, double left) const {
    const double more = left / longest().share();
    return std::clamp(pace / longest().pace(), std::min(1.0, more), std::max(1.0, more));
}

double PaceBesideKernels::guess(double left, double demand) const {
    const auto limited = [demand](double share) { return demand > share ? share / demand : 1.0; };
    const double pace = longest().pace() * limited(left) / limited(longest().share());
    const Neighbours both = neighbours(left);
    const double least = both.below != nullptr ? both.below->pace() : 0;
    const double most = both.above != nullptr ? std::max(least, both.above->pace()) : HUGE_VAL;
    return relative(std::clamp(pace, least, most), left);
}

std::optional<double> PaceBesideKernels::at(double left, double demand) const {
    if (demand <= kEnough * std::min(left, longest().share()))
        return 1;
    const auto [below, above] = neighbours(left);
    const auto is_near = [&](const Measured* measured) {
        return measured != nullptr && std::abs(measured->share() - left) <= kNear;
    };
    if (below == nullptr || above == nullptr) {
        const Measured* only = below != nullptr ? below : above;
        return is_near(only) ? std::optional(relative(only->pace(), left)) : std::nullopt;
    }
    const double apart = above->share() - below->share();
    // Between paces that are equal there is no other.
    const bool equal = above->pace() - below->pace() <= kEqual * above->pace();
    if (apart > kFarApart && !equal && !is_near(below) && !is_near(above))
        return std::nullopt;
    const double way = (left - below->share()) / apart;
    return relative(below->pace() + way * (above->pace() - below->pace()), left);
}

}  // namespace switchfold
