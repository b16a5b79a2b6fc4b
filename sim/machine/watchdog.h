// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Limits beyond which a simulation is aborted with exit code 3 and a description of what waits for
/// what.
struct LimitParams {
    Time real_time;
    Time simulated_time;
    std::uint64_t idle_events = 20'000'000;
    static constexpr auto fields() {
        return list_of(
            field(
                "real_time", &LimitParams::real_time,
                "Limit on the real time of each simulation, and of each training of a small "
                "network; 0: no limit."),
            field(
                "simulated_time", &LimitParams::simulated_time,
                "Limit on the simulated time of the workload; 0: ten times its time with one "
                "operation after the other and all data over the slowest link."),
            field(
                "idle_events", &LimitParams::idle_events,
                "Limit on consecutive events in which no operation ends and no packet arrives.",
                std::uint64_t{1000}, std::uint64_t{1'000'000'000'000}));
    }
};

/// Progress of a simulation.
struct RunState {
    Time now;
    std::uint64_t events = 0;
    std::uint64_t progress = 0;  ///< operations ended plus packets arrived
    Time real_time;
};

/// Detects a simulation that will not end: many events without progress (timers do not count), more
/// simulated time than the workload can need, or more real time than the user allows.
class Watchdog {
public:
    /// `longest`: limit on simulated time if `limits` states none.
    Watchdog(const LimitParams& limits, Time longest);

    /// Whether check() needs the progress, which may be costly to count.
    [[nodiscard]] bool wants_progress(std::uint64_t events) const { return events >= next_look_; }
    /// `state.progress` is used only if wants_progress(). \returns why the run must end, or an
    /// empty text.
    [[nodiscard]] std::string check(const RunState& state);

private:
    LimitParams limits_;
    std::uint64_t next_look_ = 0;
    std::uint64_t progress_ = 0;
    std::uint64_t progress_at_ = 0;  ///< number of events when progress was last seen
};

}  // namespace switchfold
