// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/event_queue.h"
#include "core/units.h"

#include <systemc>

#include <cstdint>
#include <exception>
#include <functional>

namespace switchfold {

/// The event queue of one simulation: all models post their delays here, and SystemC sees a single
/// process and event. It runs ahead of the SystemC kernel up to the next time at which anything
/// else in the kernel could act, so the order equals the kernel's at a fraction of the cost. Events
/// of one instant run in order of posting. Models never call sc_event::notify themselves.
class Scheduler final : public sc_core::sc_module {
public:
    /// Limit on events at one instant; more mean a zero-delay loop: SimulationError.
    static constexpr std::uint64_t kInstantLimit = 5'000'000;

    explicit Scheduler(const sc_core::sc_module_name& name);

    [[nodiscard]] Time now() const {
        return draining_ ? Time(local_now_) : Time(sc_core::sc_time_stamp().value());
    }
    /// Posts an event. A time in the past throws InternalError.
    void at(Time due, EventHandler& handler, std::uint64_t tag) {
        if (!direct_ || due.count() < local_now_) [[unlikely]]
            return at_rest(due, handler, tag);
        queue_.push({due.count(), &handler, tag});
    }
    void after(Time delay, EventHandler& handler, std::uint64_t tag) {
        at(now() + delay, handler, tag);
    }

    /// Skips up to `most` periods of a repeating motion: the WorldClock advances by that time at
    /// once, while the motion resumes where it is. Events outside the motion (InSkip) run
    /// meanwhile; skipping ends when one posts an event of the motion or `undisturbed` is false
    /// after it. \returns the time skipped: whole periods, unless it ended early.
    Time skip(Time period, std::uint64_t most, const std::function<bool()>& undisturbed);
    /// Total time skipped.
    [[nodiscard]] Time skipped() const { return Time(skipped_); }

    /// Enables prefetching for coming events, for machines larger than the caches.
    void expect_large_machine() { queue_.watch_ahead(); }

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    /// Time of the next event. \pre there is one.
    [[nodiscard]] Time next_due() { return Time(queue_.next_due()); }
    [[nodiscard]] std::uint64_t events() const { return events_; }
    /// The exception that ended the simulation, if any; SystemC would lose its type.
    [[nodiscard]] std::exception_ptr failure() const { return failure_; }
    /// Limits the simulation to this time until run_until() returns.
    void set_horizon(Time horizon) { horizon_ = horizon.count(); }
    /// Time of the last event that ran.
    [[nodiscard]] Time last_event() const { return Time(local_now_); }

private:
    void drain();
    void run_events();
    void look_ahead();
    /// Implements at() between runs of drain().
    void at_rest(Time due, EventHandler& handler, std::uint64_t tag);
    void arm(std::uint64_t due);
    class Skip;

    std::uint64_t local_now_ = 0;
    std::uint64_t skipped_ = 0;  ///< ps
    bool draining_ = false;
    bool direct_ = false;       ///< events go directly into the queue
    Skip* skipping_ = nullptr;  ///< if set, events go there instead
    bool alone_ = true;         ///< nothing else is active in the SystemC kernel
    std::uint64_t events_ = 0;
    EventQueue queue_;
    std::uint64_t horizon_ = UINT64_MAX;
    std::uint64_t armed_for_ = UINT64_MAX;
    sc_core::sc_event wake_{"wake"};
    std::exception_ptr failure_;
};

}  // namespace switchfold
