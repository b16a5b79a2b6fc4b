// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/scheduler.h"

#include "sim/core/error.h"
#include "sim/core/prefetch.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

// What the next events need comes in while this one runs: first their handlers, which keep what
// they use most right behind their EventHandler, then what those refer to.
constexpr std::size_t kHandlerBytes = 256;
constexpr std::size_t kFarEvents = 6;
constexpr std::size_t kMiddleEvents = 4;
constexpr std::size_t kNearEvents = 2;

}  // namespace

Scheduler::Scheduler(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Scheduler);
    SC_METHOD(drain);
    sensitive << wake_;
    dont_initialize();
}

void Scheduler::look_ahead() {
    queue_.look_ahead(EventQueue::kFar, kFarEvents, [](const EventHandler* handler) {
        prefetch(handler, kHandlerBytes);
    });
    queue_.look_ahead(EventQueue::kMiddle, kMiddleEvents, [](const EventHandler* handler) {
        handler->prepare(Prepare::kFirst);
    });
    queue_.look_ahead(EventQueue::kNear, kNearEvents, [](const EventHandler* handler) {
        handler->prepare(Prepare::kSecond);
    });
}

void Scheduler::at_rest(Time due, EventHandler& handler, std::uint64_t tag) {
    SWITCHFOLD_CHECK(due >= now(), "an event {} ps before now", now().count() - due.count());
    queue_.push({due.count(), &handler, tag});
    arm(due.count());
}

void Scheduler::arm(std::uint64_t due) {
    if (due >= armed_for_)
        return;
    armed_for_ = due;
    wake_.notify(sc_core::sc_time::from_value(armed_for_ - sc_core::sc_time_stamp().value()));
}

std::uint64_t Scheduler::skip(Time period, std::uint64_t most) {
    SWITCHFOLD_CHECK(draining_ && period > Time(), "periods can be left out by events alone");
    if (!alone_ || most == 0)
        return 0;
    std::vector<EventQueue::Event> waiting;
    EventQueue::Event event{};
    while (queue_.pop(UINT64_MAX, event))
        waiting.push_back(event);
    const auto in_world = [](const EventQueue::Event& e) { return e.handler->in_world_time(); };
    const auto first = std::find_if(waiting.begin(), waiting.end(), in_world);
    std::uint64_t periods = most;
    if (first != waiting.end())
        periods = std::min(periods, (first->due - local_now_) / period.count());
    const std::uint64_t span = periods * period.count();
    for (EventQueue::Event& e : waiting)
        if (in_world(e))
            e.due -= span;
    std::stable_sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
        return a.due < b.due;
    });
    EventQueue queue;
    if (queue_.watched())
        queue.watch_ahead();
    for (const EventQueue::Event& e : waiting)
        queue.push(e);
    queue_ = std::move(queue);
    skipped_ += span;
    return periods;
}

void Scheduler::drain() {
    armed_for_ = UINT64_MAX;
    draining_ = true;
    try {
        run_events();
    } catch (...) {
        failure_ = std::current_exception();
        sc_core::sc_stop();
    }
    draining_ = false;
    if (!failure_ && !queue_.empty())
        arm(queue_.next_due());
}

void Scheduler::run_events() {
    const std::uint64_t kernel_now = sc_core::sc_time_stamp().value();
    // Our own event is not pending here, so what is pending belongs to a foreign process (a test
    // bench).
    std::uint64_t limit = horizon_;
    alone_ = !sc_core::sc_pending_activity();
    if (!alone_) {
        const std::uint64_t ahead = sc_core::sc_time_to_pending_activity().value();
        limit = std::min(limit, ahead == 0 ? kernel_now : kernel_now + ahead - 1);
    }
    std::uint64_t at_this_instant = 0;
    local_now_ = std::max(local_now_, kernel_now);
    EventQueue::Event event{};
    while (queue_.pop(limit, event)) {
        at_this_instant = event.due > local_now_ ? 0 : at_this_instant + 1;
        local_now_ = event.due;
        if (at_this_instant > kInstantLimit) [[unlikely]]
            throw SimulationError(
                name(), now(), "events repeat without time passing; a loop has no delay");
        if (queue_.watched())
            look_ahead();
        ++events_;
        event.handler->on_event(event.tag);
    }
}

}  // namespace switchfold
