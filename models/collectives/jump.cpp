// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/jump.h"

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace switchfold {

void Jump::watch(RunningCollective& collective) {
    TurnLog* turns = collective.turns();
    if (turns == nullptr)
        return;
    TurnListener* self = this;
    turns->set_listener(self);
    collective_ = &collective;
    owed_.assign(turns->lanes(), 0);
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

void Jump::on_event(std::uint64_t /*tag*/) {
    if (collective_ == nullptr || !collective_->turns()->window_over())
        return;
    const auto repetition = collective_->turns()->close_window(scheduler_.now().count());
    if (repetition && undisturbed_())
        skip(*repetition);
    counts_.mark();
}

double Jump::whole_turns(std::uint32_t lane, double turns, std::uint64_t periods) const {
    const auto cycle = static_cast<double>(collective_->turns()->cycle());
    const double wanted = static_cast<double>(periods) * turns + owed_[lane];
    return std::max(0.0, std::round(wanted / cycle) * cycle);
}

void Jump::skip(const Repetition& repetition) {
    const std::uint64_t window = collective_->turns()->window();
    std::uint64_t periods = repetition.trusted;
    for (std::uint32_t lane = 0; lane < owed_.size(); ++lane) {
        const double turns = repetition.turns[lane];
        if (turns == 0)
            continue;
        const auto can = static_cast<double>(collective_->skippable(lane, window));
        while (periods > 0 && whole_turns(lane, turns, periods) > can)
            periods = std::min(periods - 1, static_cast<std::uint64_t>(can / turns));
    }
    periods = scheduler_.skip(Time(repetition.period), periods);
    if (periods == 0)
        return;
    for (std::uint32_t lane = 0; lane < owed_.size(); ++lane) {
        const double whole = whole_turns(lane, repetition.turns[lane], periods);
        owed_[lane] += static_cast<double>(periods) * repetition.turns[lane] - whole;
        collective_->skip(lane, static_cast<std::uint64_t>(whole));
    }
    collective_->turns()->skipped(periods);
    counts_.repeat(periods);
    jumped_ += Time(repetition.period) * periods;
}

}  // namespace switchfold
