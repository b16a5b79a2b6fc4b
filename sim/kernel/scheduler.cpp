// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/scheduler.h"

#include "sim/core/error.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::size_t kArity = 4;

/// A large machine does not fit the caches: what the next event needs first comes in while this one
/// runs. Handlers keep what they use most right behind their EventHandler.
void prefetch(const EventHandler* handler) {
    constexpr std::size_t kLine = 64;
    constexpr std::size_t kLines = 6;
    const auto* bytes = reinterpret_cast<const std::byte*>(handler);
    for (std::size_t line = 0; line < kLines; ++line)
        __builtin_prefetch(bytes + line * kLine);
}

}  // namespace

Scheduler::Scheduler(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Scheduler);
    SC_METHOD(drain);
    sensitive << wake_;
    dont_initialize();
    heap_.reserve(1024);
}

void Scheduler::at(Time due, EventHandler& handler, std::uint64_t tag) {
    SWITCHFOLD_CHECK(due >= now(), "an event {} ps before now", now().count() - due.count());
    push({due.count(), next_sequence_++, &handler, tag});
    if (!draining_)
        arm();
}

void Scheduler::arm() {
    if (heap_.empty() || heap_.front().due >= armed_for_)
        return;
    armed_for_ = heap_.front().due;
    wake_.notify(sc_core::sc_time::from_value(armed_for_ - sc_core::sc_time_stamp().value()));
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
    if (!failure_)
        arm();
}

void Scheduler::run_events() {
    const std::uint64_t kernel_now = sc_core::sc_time_stamp().value();
    // Our own event is not pending here, so what is pending belongs to a foreign process (a test
    // bench).
    std::uint64_t limit = horizon_;
    if (sc_core::sc_pending_activity()) {
        const std::uint64_t ahead = sc_core::sc_time_to_pending_activity().value();
        limit = std::min(limit, ahead == 0 ? kernel_now : kernel_now + ahead - 1);
    }
    std::uint64_t at_this_instant = 0;
    local_now_ = std::max(local_now_, kernel_now);
    while (!heap_.empty()) {
        const std::uint64_t due = heap_.front().due;
        if (due > local_now_) {
            if (due > limit)
                return;
            local_now_ = due;
            at_this_instant = 0;
        } else if (++at_this_instant > kInstantLimit) {
            throw SimulationError(
                name(), now(), "events repeat without time passing; a loop has no delay");
        }
        const Entry entry = pop();
        if (!heap_.empty())
            prefetch(heap_.front().handler);
        ++events_;
        entry.handler->on_event(entry.tag);
    }
}

void Scheduler::push(const Entry& entry) {
    std::size_t hole = heap_.size();
    heap_.push_back(entry);
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / kArity;
        if (!entry.before(heap_[parent]))
            break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = entry;
}

Scheduler::Entry Scheduler::pop() {
    const Entry top = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0)
        return top;
    std::size_t hole = 0;
    for (;;) {
        const std::size_t first = hole * kArity + 1;
        if (first >= size)
            break;
        std::size_t best = first;
        const std::size_t end = std::min(first + kArity, size);
        for (std::size_t child = first + 1; child < end; ++child)
            if (heap_[child].before(heap_[best]))
                best = child;
        if (!heap_[best].before(last))
            break;
        heap_[hole] = heap_[best];
        hole = best;
    }
    heap_[hole] = last;
    return top;
}

}  // namespace switchfold
