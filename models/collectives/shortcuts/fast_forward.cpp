// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/fast_forward.h"

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

// Fewer periods are simulated: little is left, and the end differs.
constexpr std::uint64_t kFewestPeriods = 4;
// Limit on the drift between parts, as a share of all turns: the error of an end that comes before
// parts have reached their correct positions.
constexpr double kApart = 0.0075;
constexpr double kApartWandering = 0.015;

}  // namespace

void FastForward::watch(
    RunningCollective& collective, std::vector<const RankPort*> ports, Motion motion) {
    auto* repeating = dynamic_cast<Repeating*>(&collective);
    PeriodDetector* turns = repeating != nullptr ? repeating->turns() : nullptr;
    if (turns == nullptr)
        return;
    WindowListener* self = this;
    turns->set_listener(self);
    turns->expect(loosely_ ? Motion::kLoose : motion);
    collective_ = repeating;
    owed_.assign(turns->lanes(), 0);
    left_out_turns_ = 0;
    ports_ = std::move(ports);
    drawn_.assign(ports_.size(), 0);
    kernels_drew();
    copies_moved();
}

void FastForward::forget(const RunningCollective& collective) {
    if (collective_ != nullptr && dynamic_cast<const Repeating*>(&collective) == collective_)
        stop();
}

void FastForward::stop() {
    collective_->turns()->set_listener(nullptr);
    collective_ = nullptr;
}

void FastForward::on_window() {
    // The part that ended its turn is still handling an event.
    scheduler_.at(scheduler_.now(), *this, 0);
}

bool FastForward::kernels_drew() {
    bool drew = false;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const double bytes = ports_[i]->kernel_draw().bytes;
        drew = drew || bytes > drawn_[i];
        drawn_[i] = bytes;
    }
    return drew;
}

bool FastForward::copies_moved() {
    const std::uint64_t before = std::exchange(copied_, beside_.copied_bytes());
    return copied_ != before;
}

bool FastForward::kernels_draw() const {
    return std::any_of(ports_.begin(), ports_.end(), [](const RankPort* port) {
        return port->kernel_draw().rate > 0;
    });
}

void FastForward::on_event(std::uint64_t /*tag*/) {
    if (collective_ == nullptr || !collective_->turns()->window_over())
        return;
    // A collective disturbed by copies runs at another pace until it has resynchronised, which
    // takes longer than a stretch.
    if (copies_moved())
        return stop();
    const bool disturbed = kernels_drew() || kernels_draw();
    const auto repetition = collective_->turns()->close_window(scheduler_.now().count(), disturbed);
    if (collective_->turns()->count_from_now())
        counts_.mark();
    if (repetition && beside_.undisturbed())
        skip(*repetition);
}

double FastForward::whole_turns(std::uint32_t lane, double turns, double periods) const {
    const auto cycle = static_cast<double>(collective_->turns()->cycle());
    const double wanted = periods * turns + owed_[lane];
    return std::max(0.0, std::round(wanted / cycle) * cycle);
}

void FastForward::skip(const Repetition& repetition) {
    const std::uint64_t window = collective_->turns()->window();
    std::uint64_t most = repetition.trusted;
    for (std::uint32_t lane = 0; lane < owed_.size(); ++lane) {
        const double turns = repetition.turns[lane];
        if (turns == 0)
            continue;
        const auto can = static_cast<double>(collective_->skippable(lane, window));
        while (most > 0 && whole_turns(lane, turns, static_cast<double>(most)) > can)
            most = std::min(most - 1, static_cast<std::uint64_t>(can / turns));
    }
    const double all =
        static_cast<double>(collective_->turns()->turns() + collective_->skippable(0, window)) +
        left_out_turns_;
    const double apart =
        collective_->turns()->motion() == Motion::kWandering ? kApartWandering : kApart;
    if (most < kFewestPeriods || repetition.apart > apart * all)
        return;
    const Time period(repetition.period);
    const Time left_out =
        scheduler_.skip(period, most, [this] { return beside_.undisturbed() && !kernels_draw(); });
    if (left_out == Time())
        return;
    const double periods = to_seconds(left_out) / to_seconds(period);
    for (std::uint32_t lane = 0; lane < owed_.size(); ++lane) {
        const double whole = whole_turns(lane, repetition.turns[lane], periods);
        owed_[lane] += periods * repetition.turns[lane] - whole;
        collective_->skip(lane, static_cast<std::uint64_t>(whole));
        collective_->turns()->left_out(lane, static_cast<std::uint64_t>(whole));
    }
    collective_->turns()->skipped(periods);
    left_out_turns_ += periods * repetition.turns.front();
    counts_.repeat(periods / repetition.counted);
    jumped_ += left_out;
    if (collective_->turns()->motion() == Motion::kWandering)
        at_mean_pace_ += left_out;
}

}  // namespace switchfold
