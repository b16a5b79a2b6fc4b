// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/event_queue.h"

#include <algorithm>

namespace switchfold {

EventQueue::EventQueue() {
    for (Level& level : slots_)
        level.lists.fill({kNone, kNone});
}

void EventQueue::grow() {
    constexpr std::size_t kFirst = 256;
    const std::size_t held = nodes_.size();
    nodes_.resize(std::max(kFirst, 2 * held));
    for (std::size_t i = nodes_.size(); i-- > held;) {
        nodes_[i].next = free_;
        free_ = static_cast<std::uint32_t>(i);
    }
}

std::uint64_t EventQueue::earliest(std::uint32_t node) const {
    std::uint64_t due = UINT64_MAX;
    for (; node != kNone; node = nodes_[node].next)
        due = std::min(due, nodes_[node].due);
    return due;
}

std::uint64_t EventQueue::next_due() const {
    const Level& level = slots_[static_cast<std::size_t>(std::countr_zero(levels_))];
    return earliest(level.lists[static_cast<std::size_t>(std::countr_zero(level.used))].first);
}

bool EventQueue::spread_first(std::uint64_t limit) {
    if (levels_ == 0)
        return false;
    const auto level = static_cast<std::size_t>(std::countr_zero(levels_));
    const auto digit = static_cast<std::size_t>(std::countr_zero(slots_[level].used));
    List& list = slots_[level].lists[digit];
    const std::uint64_t due = earliest(list.first);
    if (due > limit)
        return false;
    std::uint32_t node = list.first;
    list = {kNone, kNone};
    clear(level, digit);
    // The slot's events keep their order: those of one time stay in the order of posting.
    last_ = due;
    while (node != kNone) {
        const std::uint32_t next = nodes_[node].next;
        place(node);
        node = next;
    }
    return true;
}

}  // namespace switchfold
