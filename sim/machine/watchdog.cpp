// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/watchdog.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {
// Progress checks per idle_events.
constexpr std::uint64_t kLooks = 16;
}  // namespace

Watchdog::Watchdog(const LimitParams& limits, Time longest) : limits_(limits) {
    if (limits_.simulated_time == Time())
        limits_.simulated_time = longest;
}

std::string Watchdog::check(const RunState& state) {
    if (limits_.real_time > Time() && state.real_time > limits_.real_time)
        return fmt::format(
            "takes longer than the {} of real time allowed by /limits/real_time",
            to_string(limits_.real_time));
    if (state.now > limits_.simulated_time)
        return fmt::format(
            "takes longer than the {} of simulated time that this workload could need "
            "(/limits/simulated_time)",
            to_string(limits_.simulated_time));
    if (!wants_progress(state.events))
        return {};
    next_look_ = state.events + std::max<std::uint64_t>(1, limits_.idle_events / kLooks);
    if (state.progress != progress_ || state.events == 0) {
        progress_ = state.progress;
        progress_at_ = state.events;
        return {};
    }
    const std::uint64_t idle = state.events - progress_at_;
    if (idle < limits_.idle_events)
        return {};
    return fmt::format(
        "makes no progress: no operation has ended and no packet has arrived in the last {} "
        "events (/limits/idle_events)",
        idle);
}

}  // namespace switchfold
