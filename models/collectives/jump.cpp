// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/jump.h"

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace switchfold {

namespace {

// Kernels that draw no more than so many times what was drawn in a window, in the mean, cannot do
// more than so many times what that did to the pace: nothing that was seen.
constexpr double kMoreDraw = 2;
// Less than this is carried out: where little is left, the end is near, and the end differs.
constexpr std::uint64_t kFewestPeriods = 4;
// Parts may be apart by this share of all turns: so much may an end be wrong that comes before they
// are where they would have been.
constexpr double kApart = 0.0075;

}  // namespace

void Jump::watch(RunningCollective& collective, std::vector<const RankPort*> ports) {
    TurnLog* turns = collective.turns();
    if (turns == nullptr)
        return;
    TurnListener* self = this;
    turns->set_listener(self);
    collective_ = &collective;
    owed_.assign(turns->lanes(), 0);
    left_out_turns_ = 0;
    ports_ = std::move(ports);
    drawn_.assign(ports_.size(), 0);
    harmless_.assign(ports_.size(), 0);
    note_draw(Time());
}

void Jump::forget(const RunningCollective& collective) {
    if (collective_ != &collective)
        return;
    collective_->turns()->set_listener(nullptr);
    collective_ = nullptr;
}

void Jump::on_window() {
    // The part that ended its turn is in the middle of something.
    scheduler_.at(scheduler_.now(), *this, 0);
}

void Jump::note_draw(Time passed) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const double bytes = ports_[i]->kernel_draw().bytes;
        if (passed > Time())
            harmless_[i] =
                std::max(harmless_[i], kMoreDraw * (bytes - drawn_[i]) / to_seconds(passed));
        drawn_[i] = bytes;
    }
}

bool Jump::harmless() const {
    for (std::size_t i = 0; i < ports_.size(); ++i)
        if (ports_[i]->kernel_draw().rate > harmless_[i])
            return false;
    return true;
}

void Jump::on_event(std::uint64_t /*tag*/) {
    if (collective_ == nullptr || !collective_->turns()->window_over())
        return;
    const Time now = scheduler_.now();
    const auto repetition = collective_->turns()->close_window(now.count());
    if (!repetition)
        std::fill(harmless_.begin(), harmless_.end(), 0);
    note_draw(repetition ? now - window_begin_ : Time());
    if (collective_->turns()->begins())
        counts_.mark();
    if (repetition && undisturbed_()) {
        skip(*repetition);
        note_draw(Time());
    }
    window_begin_ = now;
}

double Jump::whole_turns(std::uint32_t lane, double turns, double periods) const {
    const auto cycle = static_cast<double>(collective_->turns()->cycle());
    const double wanted = periods * turns + owed_[lane];
    return std::max(0.0, std::round(wanted / cycle) * cycle);
}

void Jump::skip(const Repetition& repetition) {
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
    if (most < kFewestPeriods || repetition.apart > kApart * all)
        return;
    const Time period(repetition.period);
    const Time left_out =
        scheduler_.skip(period, most, [this] { return undisturbed_() && harmless(); });
    if (left_out == Time())
        return;
    const double periods = to_seconds(left_out) / to_seconds(period);
    for (std::uint32_t lane = 0; lane < owed_.size(); ++lane) {
        const double whole = whole_turns(lane, repetition.turns[lane], periods);
        owed_[lane] += periods * repetition.turns[lane] - whole;
        collective_->skip(lane, static_cast<std::uint64_t>(whole));
    }
    collective_->turns()->skipped(periods);
    left_out_turns_ += periods * repetition.turns.front();
    counts_.repeat(periods / repetition.seen);
    jumped_ += left_out;
}

}  // namespace switchfold
