// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// The time of the simulated machine, as shown to users: the Scheduler's time plus the skipped
/// time. Used by hosts, kernels and faults, which do not belong to the repeating motion and say so
/// by in_skip().
class WorldClock {
public:
    explicit WorldClock(Scheduler& scheduler) : scheduler_(scheduler) {}

    [[nodiscard]] Time now() const { return of(scheduler_.now()); }
    /// Converts a time of the Scheduler to this clock.
    [[nodiscard]] Time of(Time time) const { return time + scheduler_.skipped(); }
    /// Posts an event. A time in the past throws InternalError.
    void at(Time due, EventHandler& handler, std::uint64_t tag) {
        scheduler_.at(due - scheduler_.skipped(), handler, tag);
    }
    void after(Time delay, EventHandler& handler, std::uint64_t tag) {
        scheduler_.after(delay, handler, tag);
    }

private:
    Scheduler& scheduler_;
};

}  // namespace switchfold
