// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"
#include "sim/kernel/event_queue.h"

#include <systemc>

#include <cstdint>
#include <exception>
#include <functional>

namespace switchfold {

/// The timed queue of one simulation: every model posts its delays here, and SystemC sees one
/// process and one event. It runs ahead of the SystemC kernel up to the next time at which anything
/// else in the kernel could act, so the order is the one the kernel would give, at a fraction of
/// its cost. Events of one instant run in the order they were posted. Models never call
/// sc_event::notify themselves.
class Scheduler final : public sc_core::sc_module {
public:
    /// More events than this at one instant means a loop without delay: SimulationError.
    static constexpr std::uint64_t kInstantLimit = 5'000'000;

    explicit Scheduler(const sc_core::sc_module_name& name);

    [[nodiscard]] Time now() const {
        return draining_ ? Time(local_now_) : Time(sc_core::sc_time_stamp().value());
    }
    /// Posts an event. A time before now is our bug.
    void at(Time due, EventHandler& handler, std::uint64_t tag) {
        if (!direct_ || due.count() < local_now_) [[unlikely]]
            return at_rest(due, handler, tag);
        queue_.push({due.count(), &handler, tag});
    }
    void after(Time delay, EventHandler& handler, std::uint64_t tag) {
        at(now() + delay, handler, tag);
    }

    /// Leaves out `most` periods of a motion that repeats itself: that much time passes for the
    /// WorldClock at once, and none for the motion, which goes on where it is. What passes beside
    /// the motion (InSkip) comes meanwhile, and ends this when it makes an event of the motion or
    /// when `undisturbed` is false after it. \returns what was left out: whole periods, unless it
    /// was ended so.
    Time skip(Time period, std::uint64_t most, const std::function<bool()>& undisturbed);
    /// Time left out so far.
    [[nodiscard]] Time skipped() const { return Time(skipped_); }

    /// Prefetches the memory of coming events from now on: for machines larger than the caches.
    void expect_large_machine() { queue_.watch_ahead(); }

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    /// When the next event is due; there is one.
    [[nodiscard]] Time next_due() { return Time(queue_.next_due()); }
    [[nodiscard]] std::uint64_t events() const { return events_; }
    /// The exception that ended the simulation, if one did: SystemC would lose its type.
    [[nodiscard]] std::exception_ptr failure() const { return failure_; }
    /// The simulation may not run past this time before run_until() returns.
    void set_horizon(Time horizon) { horizon_ = horizon.count(); }
    /// Time of the last event that ran.
    [[nodiscard]] Time last_event() const { return Time(local_now_); }

private:
    void drain();
    void run_events();
    void look_ahead();
    /// What at() does between the runs of drain().
    void at_rest(Time due, EventHandler& handler, std::uint64_t tag);
    void arm(std::uint64_t due);
    class Skip;

    std::uint64_t local_now_ = 0;
    std::uint64_t skipped_ = 0;  ///< ps
    bool draining_ = false;
    bool direct_ = false;       ///< events go right into the queue
    Skip* skipping_ = nullptr;  ///< they go there
    bool alone_ = true;         ///< nobody else acts in the SystemC kernel
    std::uint64_t events_ = 0;
    EventQueue queue_;
    std::uint64_t horizon_ = UINT64_MAX;
    std::uint64_t armed_for_ = UINT64_MAX;
    sc_core::sc_event wake_{"wake"};
    std::exception_ptr failure_;
};

}  // namespace switchfold
