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
// Limit on the turns left out too many or too few because lanes leave out whole cycles, as a share
// of all turns.
constexpr double kRounded = 0.0025;

}  // namespace

void FastForward::watch(
    const std::vector<RunningCollective*>& collectives, std::vector<const RankPort*> ports,
    Motion motion) {
    std::vector<Watched> all;
    for (RunningCollective* collective : collectives) {
        auto* repeating = dynamic_cast<Repeating*>(collective);
        if (repeating == nullptr || repeating->turns() == nullptr)
            return;
        all.emplace_back(*repeating);
    }
    stop();
    watched_ = std::move(all);
    for (const Watched& one : watched_) {
        one.turns().begin_anew();
        one.turns().expect(
            loosely_ ? Motion::kLoose : motion, one.all_turns(), watched_.size() > 1);
    }
    WindowListener* self = this;
    watched_.front().turns().set_listener(self);
    ports_ = std::move(ports);
    drawn_.assign(ports_.size(), 0);
    kernels_drew();
    copies_moved();
}

void FastForward::forget(const RunningCollective& collective) {
    const auto* repeating = dynamic_cast<const Repeating*>(&collective);
    if (std::ranges::any_of(
            watched_, [&](const Watched& one) { return one.collective == repeating; }))
        stop();
}

void FastForward::stop() {
    if (!watched_.empty())
        watched_.front().turns().set_listener(nullptr);
    watched_.clear();
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
    if (watched_.empty() || !watched_.front().turns().window_over())
        return;
    // A collective disturbed by copies runs at another pace until it has resynchronised, which
    // takes longer than a stretch.
    if (copies_moved())
        return stop();
    const bool disturbed = kernels_drew() || kernels_draw();
    const std::vector<Repetition> all = close_windows(disturbed);
    if (watched_.front().turns().count_from_now())
        counts_.mark();
    if (!all.empty() && beside_.undisturbed())
        skip(all);
}

std::vector<Repetition> FastForward::close_windows(bool disturbed) {
    const std::uint64_t now = scheduler_.now().count();
    std::vector<Repetition> all;
    std::uint64_t began = 0;
    for (const Watched& one : watched_) {
        if (const auto repetition = one.turns().close_window(now, disturbed))
            all.push_back(*repetition);
        began = std::max(began, one.turns().stretch_began());
    }
    for (const Watched& one : watched_) {
        if (one.turns().stretch_began() == began)
            continue;
        one.turns().begin_stretch_at(began);
        all.clear();
    }
    if (all.size() < watched_.size())
        return {};
    for (Repetition& other : all) {
        const double share =
            static_cast<double>(all.front().period) / static_cast<double>(other.period);
        for (double& turns : other.turns)
            turns *= share;
        other.trusted = static_cast<std::uint64_t>(static_cast<double>(other.trusted) / share);
    }
    return all;
}

FastForward::Watched::Watched(Repeating& which) :
    collective(&which), owed(which.turns()->lanes()) {}

PeriodDetector& FastForward::Watched::turns() const {
    return *collective->turns();
}

double FastForward::Watched::whole_turns(std::uint32_t lane, double turns, double periods) const {
    const auto cycle = static_cast<double>(this->turns().cycle());
    const double wanted = periods * turns + owed[lane];
    return std::max(0.0, std::round(wanted / cycle) * cycle);
}

std::uint64_t
FastForward::Watched::skippable(const std::vector<double>& turns, std::uint64_t most) const {
    for (std::uint32_t lane = 0; lane < owed.size(); ++lane) {
        if (turns[lane] == 0)
            continue;
        const auto can = static_cast<double>(collective->skippable(lane, this->turns().window()));
        while (most > 0 && whole_turns(lane, turns[lane], static_cast<double>(most)) > can)
            most = std::min(most - 1, static_cast<std::uint64_t>(can / turns[lane]));
    }
    return most;
}

double FastForward::Watched::all_turns() const {
    return static_cast<double>(turns().turns() + collective->skippable(0, turns().window())) +
           left_out;
}

double FastForward::Watched::rounded(const std::vector<double>& turns, double periods) const {
    double more = 0;
    for (std::uint32_t lane = 0; lane < owed.size(); ++lane)
        more += whole_turns(lane, turns[lane], periods) - periods * turns[lane] - owed[lane];
    return std::abs(more) / static_cast<double>(owed.size()) / all_turns();
}

void FastForward::Watched::skip(const std::vector<double>& turns, double periods) {
    for (std::uint32_t lane = 0; lane < owed.size(); ++lane) {
        const double whole = whole_turns(lane, turns[lane], periods);
        owed[lane] += periods * turns[lane] - whole;
        collective->skip(lane, static_cast<std::uint64_t>(whole));
        this->turns().left_out(lane, static_cast<std::uint64_t>(whole));
    }
    left_out += periods * turns.front();
}

void FastForward::skip(const std::vector<Repetition>& all) {
    const Repetition& first = all.front();
    std::uint64_t most = first.trusted;
    for (std::size_t i = 0; i < all.size(); ++i)
        most = std::min(most, watched_[i].skippable(all[i].turns, all[i].trusted));
    if (most < kFewestPeriods)
        return;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const PeriodDetector& turns = watched_[i].turns();
        const double apart = turns.motion() == Motion::kWandering ? kApartWandering : kApart;
        if (all[i].apart > apart * watched_[i].all_turns())
            return;
    }
    const auto rounded = [&](std::uint64_t periods) {
        double share = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            share =
                std::max(share, watched_[i].rounded(all[i].turns, static_cast<double>(periods)));
        return share;
    };
    while (rounded(most) > kRounded)
        if (--most < kFewestPeriods)
            return;
    const Time period(first.period);
    const Time left_out =
        scheduler_.skip(period, most, [this] { return beside_.undisturbed() && !kernels_draw(); });
    if (left_out == Time())
        return;
    const double periods = to_seconds(left_out) / to_seconds(period);
    for (std::size_t i = 0; i < all.size(); ++i) {
        watched_[i].skip(all[i].turns, periods);
        watched_[i].turns().skipped(
            periods * static_cast<double>(first.period) / static_cast<double>(all[i].period));
    }
    counts_.repeat(periods / first.counted);
    jumped_ += left_out;
    if (watched_.front().turns().motion() == Motion::kWandering)
        at_mean_pace_ += left_out;
}

}  // namespace switchfold
