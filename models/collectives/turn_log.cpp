// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/turn_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {

// Windows are alike if their lengths, and the turns of their lanes, differ by no more than this
// part: a jump is no more wrong than its window.
constexpr double kAlike = 1e-3;
// The parts of a lane may drift apart by this part of a turn over all that is left out.
constexpr double kDrift = 0.5;
// A drift below this is none: a turn's end may be seen before or after a window's, at one time.
constexpr double kNoDrift = 1e-6;
// So many windows that differ, and windows become twice as long.
constexpr std::uint32_t kPatience = 6;
// A motion is taken to go on for so many times as long as it was seen to: what changes slowly is
// looked at again.
constexpr std::uint64_t kTrust = 8;
// Windows whose parts drift apart within fewer than this become longer, too.
constexpr std::uint64_t kWorthIt = 4;

}  // namespace

std::uint32_t TurnLog::add(std::uint32_t lane) {
    lanes_ = std::max(lanes_, lane + 1);
    counters_.push_back({lane, 0, 0, 0});
    return static_cast<std::uint32_t>(counters_.size() - 1);
}

double TurnLog::progress(const Counter& counter, std::uint64_t now) {
    const auto turns = static_cast<double>(counter.turns);
    if (counter.turns < 2)
        return turns;
    // How far it is in the next turn, going by the last.
    const auto turn = static_cast<double>(std::max<std::uint64_t>(1, counter.last - counter.before));
    return turns + std::min(1.0, static_cast<double>(now - counter.last) / turn);
}

TurnLog::Window TurnLog::measure(std::uint64_t now) {
    struct Range {
        double sum = 0;
        double least = HUGE_VAL;
        double most = -HUGE_VAL;
        std::uint32_t count = 0;
    };
    std::vector<Range> ranges(lanes_);
    for (std::size_t i = 0; i < counters_.size(); ++i) {
        const double turns = progress(counters_[i], now) - begun_[i];
        Range& range = ranges[counters_[i].lane];
        range.sum += turns;
        range.least = std::min(range.least, turns);
        range.most = std::max(range.most, turns);
        ++range.count;
    }
    Window window;
    window.length = now - begun_at_;
    for (const Range& range : ranges)
        window.lanes.push_back(
            range.count == 0 ? Lane{} : Lane{range.sum / range.count, range.most - range.least});
    return window;
}

bool TurnLog::alike(const Window& a, const Window& b) {
    if (a.length == 0 || b.length == 0)
        return false;
    const auto near = [](double x, double y) { return std::abs(x - y) <= kAlike * std::max(x, y); };
    if (!near(static_cast<double>(a.length), static_cast<double>(b.length)))
        return false;
    for (std::size_t i = 0; i < a.lanes.size(); ++i)
        if (!near(a.lanes[i].turns, b.lanes[i].turns))
            return false;
    return true;
}

std::uint64_t TurnLog::steady_for(const Window& window) {
    double spread = 0;
    for (const Lane& lane : window.lanes)
        spread = std::max(spread, lane.spread);
    return spread > kNoDrift ? static_cast<std::uint64_t>(kDrift / spread) : UINT64_MAX;
}

void TurnLog::restart(std::uint64_t now) {
    begun_.resize(counters_.size());
    for (std::size_t i = 0; i < counters_.size(); ++i)
        begun_[i] = progress(counters_[i], now);
    begun_at_ = now;
    window_end_ = counters_.front().turns + window_;
}

std::optional<Repetition> TurnLog::close_window(std::uint64_t now) {
    if (begun_at_ == 0) {
        restart(now);
        return std::nullopt;
    }
    Window window = measure(now);
    const bool same = alike(window, before_[0]) && alike(before_[0], before_[1]);
    before_[1] = std::exchange(before_[0], window);
    trusted_ = same ? std::max<std::uint64_t>(trusted_ + 1, before_.size() + 1) : 0;
    const std::uint64_t steady = steady_for(window);
    std::optional<Repetition> found;
    if (same && steady > 0) {
        found.emplace().period = window.length;
        found->trusted = std::min(steady, kTrust * trusted_);
        for (const Lane& lane : window.lanes)
            found->turns.push_back(lane.turns);
    }
    if (same && steady >= kWorthIt)
        differed_ = 0;
    else if (++differed_ >= kPatience && window_ * 2 <= most_) {
        window_ *= 2;
        differed_ = 0;
        before_ = {};
    }
    restart(now);
    return found;
}

}  // namespace switchfold
