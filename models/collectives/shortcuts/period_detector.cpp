// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/period_detector.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {

/// How alike the windows of a stretch are.
struct Likeness {
    double pace;     ///< share by which a window's pace deviates at most; more starts a new stretch
    double known;    ///< share of the mean pace that its standard error is at most
    double settled;  ///< share by which the paces of the halves differ at most
    double jitter;   ///< share of the stretch's turns by which parts of a lane move against others
    double drift;    ///< turns by which parts may drift apart over everything skipped
    double drift_of_all;  ///< the same as a share of all turns, if that is more
    std::size_t windows;  ///< fewest of a stretch
};
constexpr Likeness kClose{0.015, 0.0015, 0.0025, 0.25, 0.2, 0, 3};
// Trees over machines never settle: channels meet at the network's ports in other orders all the
// time. Twice the standard error of their pace is less than a quarter of the model's own error. Who
// is ahead at the end by a share of all turns has ended earlier by less than that share.
constexpr Likeness kWandering{0.05, 0.006, 0.015, 0.25, 1, 0.005, 8};
// FIFOs of a chain fill for hundreds of turns, at most eight slices each.
constexpr Likeness kLoose{0.3, 0.006, 0.012, 1, 8, 0, 3};
constexpr const Likeness& likeness_of(Motion motion) {
    switch (motion) {
    case Motion::kWandering:
        return kWandering;
    case Motion::kLoose:
        return kLoose;
    case Motion::kClose:
        break;
    }
    return kClose;
}
// If parts move against each other by more than kAtRest turns, a stretch needs at least
// kFewestTurns: data between them take that long to settle.
constexpr double kFewestTurns = 16;
// Beside other collectives, whose data wait for the same links by chance.
constexpr double kFewestBeside = 48;
// Least turns of a stretch inside a section: chunks rotate over a GPU's links, so turns are alike
// only after as many as it has links.
constexpr double kFewestInSection = 18;
constexpr double kAtRest = 0.02;
constexpr std::size_t kMostMarks = 33;
// Turns by which the parts of a lane may move against each other in any stretch.
constexpr double kJitter = 1.0;
// The limit on drift with sections, as a share of a section's turns: the error of an end.
constexpr double kSectionDrift = 0.0015;
// The spread of pure jitter does not grow with the stretch; tolerance for its apparent growth.
constexpr double kJitterGrows = 1.4;
// Lanes whose turns differ by less than this, absolute plus relative, are considered equally fast.
constexpr double kSameTurns = 0.1;
constexpr double kSameShare = 0.001;
// Windows without a repetition after which windows double in length.
constexpr std::uint32_t kPatience = 20;
// A motion is trusted to continue for this multiple of the time it was observed, so that slow
// changes are noticed.
constexpr double kTrust = 8;
// The halves of a stretch that wanders differ by chance or because its pace creeps. If it creeps,
// it goes on for as long as the pace stays within twice this share of what it is now.
constexpr double kCreep = 0.0075;

}  // namespace

std::uint32_t PeriodDetector::add(std::uint32_t lane, std::uint32_t parts) {
    lanes_ = std::max(lanes_, lane + 1);
    left_out_.resize(lanes_, 0);
    const auto first = static_cast<std::uint32_t>(counters_.size());
    counters_.resize(first + parts, Counter{.lane = lane});
    if (lane == 0)
        first_ = std::min(first_, first);
    return first;
}

double PeriodDetector::progress(const Counter& counter, std::uint64_t now) {
    const auto turns = static_cast<double>(counter.turns);
    if (counter.turns < 2)
        return turns;
    // Progress within the current turn, extrapolated from the last one.
    const auto turn = static_cast<double>(
        std::max<std::uint64_t>(1, (counter.last - counter.before) / counter.together));
    return turns + std::min(1.0, static_cast<double>(now - counter.last) / turn);
}

PeriodDetector::Moved PeriodDetector::moved(const Mark& from, const Mark& to) const {
    struct Range {
        double sum = 0;
        double least = HUGE_VAL;
        double most = -HUGE_VAL;
        std::uint32_t count = 0;
    };
    std::vector<Range> ranges(lanes_);
    Moved all;
    for (std::size_t i = 0; i < counters_.size(); ++i) {
        const double turns = to.progress[i] - from.progress[i];
        Range& range = ranges[counters_[i].lane];
        range.sum += turns;
        range.least = std::min(range.least, turns);
        range.most = std::max(range.most, turns);
        ++range.count;
        all.mean += turns;
    }
    all.mean /= static_cast<double>(counters_.size());
    for (const Range& range : ranges) {
        all.lane.push_back(range.count == 0 ? 0 : range.sum / range.count);
        if (range.count > 0)
            all.spread = std::max(all.spread, range.most - range.least);
    }
    return all;
}

bool PeriodDetector::goes_on() const {
    if (stretch_.size() < 3)
        return true;
    const Mark& first = stretch_.front();
    const Mark& before = stretch_[stretch_.size() - 2];
    const double pace = moved(first, before).mean / static_cast<double>(before.at - first.at);
    return std::abs(stretch_.back().pace - pace) <= likeness_of(motion_).pace * pace;
}

bool PeriodDetector::known_to(double share) const {
    const std::size_t windows = stretch_.size() - 1;
    if (windows < likeness_of(motion_).windows)
        return false;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 1; i < stretch_.size(); ++i)
        sum += stretch_[i].pace;
    const auto count = static_cast<double>(windows);
    const double mean = sum / count;
    for (std::size_t i = 1; i < stretch_.size(); ++i)
        squares += (stretch_[i].pace - mean) * (stretch_[i].pace - mean);
    return std::sqrt(squares / (count - 1) / count) <= share * mean;
}

std::optional<Repetition> PeriodDetector::repetition() const {
    const Likeness& like = likeness_of(motion_);
    if (!known_to(like.known))
        return std::nullopt;
    const Mark& first = stretch_.front();
    const Mark& now = stretch_.back();
    const Mark& middle = stretch_[stretch_.size() / 2];
    const Moved all = moved(first, now);
    const Moved half = moved(middle, now);
    const auto same = [&](double turns) {
        return std::abs(turns - all.mean) <= kSameTurns + kSameShare * all.mean;
    };
    if (all.mean <= 0 || all.lane.front() <= 0 ||
        all.spread > std::max(kJitter, like.jitter * all.mean))
        return std::nullopt;
    const auto pace = [](const Moved& turns, const Mark& from, const Mark& to) {
        return turns.mean / static_cast<double>(to.at - from.at);
    };
    const double fewest =
        rests_early_ && known_to(like.known / 3) ? kFewestTurns / 3 : kFewestTurns;
    const bool settled = all.spread < settled_;
    if (all.mean < (settled ? fewest_ / 3 : fewest_) ||
        (!settled && all.spread > kAtRest && all.mean < fewest) ||
        (beside_ && all.mean < kFewestBeside) || (section_ != 0 && all.mean < kFewestInSection))
        return std::nullopt;
    const double early = pace(moved(first, middle), first, middle);
    const double late = pace(half, middle, now);
    if (std::abs(late - early) > like.settled * late)
        return std::nullopt;
    const auto window = static_cast<double>(window_);
    Repetition found;
    found.apart = all.spread;
    found.seen = (same(all.lane.front()) ? all.mean : all.lane.front()) / window;
    double apart = 0;  // turns per period by which lanes move apart
    if (section_ != 0) {
        // All lanes skip the same number of turns; the slowest ends last.
        const auto [slowest, fastest] = std::minmax_element(all.lane.begin(), all.lane.end());
        found.seen = *slowest / window;
        apart = (*fastest - *slowest) / found.seen;
    }
    found.counted = found.seen * moved(stretch_[1], now).mean / all.mean;
    found.period = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(now.at - first.at) / found.seen));
    for (const double turns : all.lane)
        found.turns.push_back(
            section_ != 0 ? window : (same(turns) ? all.mean : turns) / found.seen);
    const double drift = section_ == 0
                             ? std::max(like.drift, std::max(like.drift_of_all, drift_) * all_)
                             : kSectionDrift * static_cast<double>(section_);
    double periods = kTrust * (found.seen + skipped_);
    const double grown = (all.spread - kJitterGrows * half.spread) / (all.mean - half.mean);
    if (grown > 0)
        periods = std::min(periods, drift / (grown * window) - skipped_);
    if (motion_ == Motion::kWandering)
        periods = std::min(periods, kCreep / (std::abs(late - early) / late) * found.seen);
    if (apart > 0)
        periods = std::min(periods, drift / apart - skipped_);
    found.trusted = static_cast<std::uint64_t>(std::max(0.0, periods));
    return found;
}

std::optional<std::uint64_t> PeriodDetector::section() const {
    if (section_ == 0)
        return 0;
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    for (const Counter& counter : counters_) {
        const std::uint64_t turns = counter.turns + left_out_[counter.lane];
        least = std::min(least, turns);
        most = std::max(most, turns);
    }
    if (least == 0 || (least - 1) / section_ != (most - 1) / section_)
        return std::nullopt;
    return (least - 1) / section_;
}

bool PeriodDetector::began_unevenly() const {
    const Mark& middle = stretch_[stretch_.size() / 2];
    constexpr std::size_t kTwoHalves = 4;
    return stretch_.size() >= kTwoHalves &&
           moved(stretch_.front(), middle).spread > 2 * moved(middle, stretch_.back()).spread;
}

void PeriodDetector::begin_stretch() {
    stretch_.erase(stretch_.begin(), stretch_.end() - 1);
    skipped_ = 0;
}

void PeriodDetector::begin_stretch_at(std::uint64_t began) {
    std::erase_if(stretch_, [began](const Mark& mark) { return mark.at < began; });
    skipped_ = 0;
}

void PeriodDetector::begin_anew() {
    if (stretch_.empty())
        return;
    stretch_.clear();
    skipped_ = 0;
    window_end_ = counters_[first_].turns + window_;
}

std::optional<Repetition> PeriodDetector::close_window(std::uint64_t now, bool disturbed) {
    Mark mark;
    mark.at = now;
    for (const Counter& counter : counters_)
        mark.progress.push_back(progress(counter, now));
    mark.section = section();
    std::optional<Repetition> found;
    if (!stretch_.empty())
        mark.pace = moved(stretch_.back(), mark).mean /
                    static_cast<double>(std::max<std::uint64_t>(1, now - stretch_.back().at));
    stretch_.push_back(std::move(mark));
    if (stretch_.size() > 1) {
        const Mark& last = stretch_.back();
        if (disturbed || !last.section || last.section != stretch_.front().section || !goes_on())
            begin_stretch();
        else
            found = repetition();
        if ((!found || found->trusted == 0) && motion_ == Motion::kWandering && began_unevenly())
            stretch_.erase(
                stretch_.begin(),
                stretch_.begin() + static_cast<std::ptrdiff_t>(stretch_.size() / 2));
        // Longer windows do not help against what comes from outside.
        if (!disturbed)
            fruitless_ = found && found->trusted > 0 ? 0 : fruitless_ + 1;
    }
    if (stretch_.size() > kMostMarks)
        stretch_.erase(stretch_.begin() + 2);  // the stretch keeps its first window
    if (fruitless_ >= kPatience && window_ * 2 <= most_) {
        window_ *= 2;
        fruitless_ = 0;
        begin_stretch();
    }
    window_end_ = counters_[first_].turns + window_;
    return found;
}

}  // namespace switchfold
