// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/event_queue.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {
// A slot of no more events than this, no further apart, is sorted and not spread over the levels
// below. What is posted meanwhile seldom falls in between: hardly any delay is so short.
constexpr std::size_t kShort = 8;
constexpr std::uint64_t kNear = 4096;  // ps
}  // namespace

void EventQueue::grow() {
    constexpr std::size_t kFirst = 256;
    const std::size_t held = nodes_.size();
    nodes_.resize(std::max(kFirst, 2 * held));
    for (std::size_t i = nodes_.size(); i-- > held;) {
        nodes_[i].next = free_;
        free_ = static_cast<std::uint32_t>(i);
    }
}

void EventQueue::insert(std::uint32_t node) {
    const std::uint64_t due = nodes_[node].due;
    if (front_.first == kNone || nodes_[front_.last].due <= due) {
        append(front_, node);
        return;
    }
    std::uint32_t* link = &front_.first;
    while (nodes_[*link].due <= due)
        link = &nodes_[*link].next;
    nodes_[node].next = *link;
    *link = node;
}

bool EventQueue::is_short(const List& list) const {
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    std::size_t count = 0;
    for (std::uint32_t node = list.first; node != kNone; node = nodes_[node].next) {
        least = std::min(least, nodes_[node].due);
        most = std::max(most, nodes_[node].due);
        if (++count > kShort)
            return false;
    }
    return most - least < kNear;
}

std::uint64_t EventQueue::least_due(const List& list) const {
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t node = list.first; node != kNone; node = nodes_[node].next)
        least = std::min(least, nodes_[node].due);
    return least;
}

void EventQueue::refill() {
    while (front_.first == kNone) {
        const auto level = static_cast<std::size_t>(std::countr_zero(levels_));
        Level& slots = slots_[level];
        const auto digit = static_cast<std::size_t>(std::countr_zero(slots.used));
        const List list = std::exchange(slots.lists[digit], List{});
        slots.used &= slots.used - 1;
        if (slots.used == 0)
            levels_ &= ~(1U << level);
        if (level == 0) {  // all of one time
            front_ = list;
            base_ = nodes_[list.first].due;
            return;
        }
        // Events keep their order on the way: those of one time stay in the order of posting.
        const bool sort = is_short(list);
        if (!sort)
            base_ = least_due(list);
        for (std::uint32_t node = list.first; node != kNone;) {
            const std::uint32_t next = nodes_[node].next;
            if (sort)
                insert(node);
            else
                place(node);
            node = next;
        }
        if (sort)
            base_ = nodes_[front_.last].due;
    }
}

}  // namespace switchfold
