// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/scheduler.h"

#include "core/error.h"
#include "core/prefetch.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

// Data of the next events are prefetched while this one runs: first their handlers, which keep the
// most used fields right after their EventHandler, then what those point to.
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

void Scheduler::arm(std::uint64_t due) {
    if (due >= armed_for_)
        return;
    armed_for_ = due;
    wake_.notify(sc_core::sc_time::from_value(armed_for_ - sc_core::sc_time_stamp().value()));
}

/// Holds the events while periods are skipped.
class Scheduler::Skip {
public:
    using Event = EventQueue::Event;
    explicit Skip(Scheduler& scheduler) : scheduler_(scheduler) {
        Event event{};
        while (scheduler_.queue_.pop(UINT64_MAX, event))
            add(event);
        disturbed_ = false;
    }
    /// Adds an event due by the Scheduler's time.
    void add(const Event& event) {
        if (event.handler->in_skip() == InSkip::kStays) {
            motion_.push_back(event);
            disturbed_ = true;
            return;
        }
        beside_.push_back({{event.due + scheduler_.skipped_, event.handler, event.tag}, posted_++});
        std::push_heap(beside_.begin(), beside_.end(), Later{});
    }
    /// Whether something outside the motion has posted an event of the motion.
    [[nodiscard]] bool disturbed() const { return disturbed_; }
    /// The first event outside the motion, due by the WorldClock; null if none.
    [[nodiscard]] const Event* next() const {
        return beside_.empty() ? nullptr : &beside_.front().event;
    }
    Event take() {
        std::pop_heap(beside_.begin(), beside_.end(), Later{});
        const Event event = beside_.back().event;
        beside_.pop_back();
        return event;
    }
    /// Returns all events to the queue.
    void end() {
        EventQueue queue;
        if (scheduler_.queue_.watched())
            queue.watch_ahead();
        while (next() != nullptr) {
            Event event = take();
            event.due -= scheduler_.skipped_;
            motion_.push_back(event);
        }
        std::stable_sort(motion_.begin(), motion_.end(), [](const Event& a, const Event& b) {
            return a.due < b.due;
        });
        for (const Event& event : motion_)
            queue.push(event);
        scheduler_.queue_ = std::move(queue);
    }

private:
    struct Beside {
        Event event;
        std::uint64_t posted;
    };
    struct Later {
        bool operator()(const Beside& a, const Beside& b) const {
            return std::tie(a.event.due, a.posted) > std::tie(b.event.due, b.posted);
        }
    };
    Scheduler& scheduler_;
    std::vector<Event> motion_;
    std::vector<Beside> beside_;
    std::uint64_t posted_ = 0;
    bool disturbed_ = false;
};

void Scheduler::at_rest(Time due, EventHandler& handler, std::uint64_t tag) {
    SWITCHFOLD_CHECK(due >= now(), "an event {} ps before now", now().count() - due.count());
    if (skipping_ != nullptr)
        return skipping_->add({due.count(), &handler, tag});
    queue_.push({due.count(), &handler, tag});
    arm(due.count());
}

Time Scheduler::skip(Time period, std::uint64_t most, const std::function<bool()>& undisturbed) {
    SWITCHFOLD_CHECK(draining_ && period > Time(), "periods can be left out by events alone");
    if (!alone_ || most == 0)
        return {};
    Skip skip(*this);
    skipping_ = &skip;
    direct_ = false;
    const std::uint64_t before = skipped_;
    const std::uint64_t begin = local_now_ + skipped_;
    std::uint64_t end = begin + most * period.count();
    bool goes_on = true;
    std::uint64_t at_this_instant = 0;
    while (goes_on && skip.next() != nullptr && skip.next()->due <= end) {
        if (skip.next()->handler->in_skip() == InSkip::kEnds) {
            end = begin + (skip.next()->due - begin) / period.count() * period.count();
            break;
        }
        const EventQueue::Event event = skip.take();
        at_this_instant = event.due > local_now_ + skipped_ ? 0 : at_this_instant + 1;
        if (at_this_instant > kInstantLimit) [[unlikely]]
            throw SimulationError(
                name(), Time(event.due), "events repeat without time passing; a loop has no delay");
        skipped_ = event.due - local_now_;
        ++events_;
        event.handler->on_event(event.tag);
        goes_on = !skip.disturbed() && undisturbed();
    }
    if (goes_on)
        skipped_ = std::max(skipped_, end - local_now_);
    skip.end();
    skipping_ = nullptr;
    direct_ = true;
    return Time(skipped_ - before);
}

void Scheduler::drain() {
    armed_for_ = UINT64_MAX;
    draining_ = direct_ = true;
    try {
        run_events();
    } catch (...) {
        failure_ = std::current_exception();
        sc_core::sc_stop();
    }
    draining_ = direct_ = false;
    skipping_ = nullptr;
    if (!failure_ && !queue_.empty())
        arm(queue_.next_due());
}

void Scheduler::run_events() {
    const std::uint64_t kernel_now = sc_core::sc_time_stamp().value();
    // The Scheduler's own event is not pending here, so pending activity belongs to a foreign
    // process (a test bench).
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
