// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/event_queue.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {
// A slot of no more events than this, no further apart, is sorted and not spread over the levels
// below. What is posted meanwhile seldom falls in between: hardly any delay is so short.
constexpr std::size_t kShort = 8;
constexpr std::uint64_t kNear = 4096;        // ps
constexpr std::size_t kInSight = 16;         // events to sort ahead of time, if so many are near:
constexpr std::uint32_t kNearLevels = 0b11;  // the levels of the 4096 ps that base_ lies in
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
        nodes_[node].next = kNone;
        join({node, node});
        return;
    }
    std::uint32_t* link = &front_.first;
    std::uint32_t before = 0;
    for (; nodes_[*link].due <= due; ++before)
        link = &nodes_[*link].next;
    for (Cursor& cursor : ahead_) {
        if (before < cursor.distance)
            ++cursor.distance;
        else if (before == cursor.distance)
            cursor.node = node;
    }
    nodes_[node].next = *link;
    *link = node;
}

void EventQueue::join(const List& list) {
    if (front_.first == kNone)
        front_.first = list.first;
    else
        nodes_[front_.last].next = list.first;
    front_.last = list.last;
    for (Cursor& cursor : ahead_)
        if (cursor.node == kNone)
            cursor.node = list.first;
}

EventQueue::List EventQueue::sorted(const List& list) {
    // By insertion from behind: a list is short, and its events seldom come out of order.
    List result;
    for (std::uint32_t node = list.first; node != kNone;) {
        const std::uint32_t next = nodes_[node].next;
        const std::uint64_t due = nodes_[node].due;
        if (result.first == kNone || nodes_[result.last].due <= due) {
            append(result, node);
        } else {
            std::uint32_t* link = &result.first;
            while (nodes_[*link].due <= due)
                link = &nodes_[*link].next;
            nodes_[node].next = *link;
            *link = node;
        }
        node = next;
    }
    return result;
}

std::size_t EventQueue::count_if_short(const List& list) const {
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    std::size_t count = 0;
    for (std::uint32_t node = list.first; node != kNone; node = nodes_[node].next) {
        least = std::min(least, nodes_[node].due);
        most = std::max(most, nodes_[node].due);
        if (++count > kShort)
            return 0;
    }
    return most - least < kNear ? count : 0;
}

std::uint64_t EventQueue::least_due(const List& list) const {
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t node = list.first; node != kNone; node = nodes_[node].next)
        least = std::min(least, nodes_[node].due);
    return least;
}

void EventQueue::refill() {
    // On to the events of the next few nanoseconds, so that look_ahead() sees some.
    std::size_t events = 0;
    do
        events += take_first_list();
    while (front_.first == kNone || (events < kInSight && (levels_ & kNearLevels) != 0));
}

std::size_t EventQueue::take_first_list() {
    const auto level = static_cast<std::size_t>(std::countr_zero(levels_));
    Level& slots = slots_[level];
    const auto digit = static_cast<std::size_t>(std::countr_zero(slots.used));
    const List list = std::exchange(slots.lists[digit], List{});
    slots.used &= slots.used - 1;
    if (slots.used == 0)
        levels_ &= ~(1U << level);
    // Events keep their order on the way: those of one time stay in the order of posting.
    if (level == 0) {  // all of one time
        join(list);
        base_ = nodes_[list.first].due;
        return list.first == list.last ? 1 : kInSight;
    }
    if (const std::size_t few = count_if_short(list); few > 0) {
        join(sorted(list));
        base_ = nodes_[front_.last].due;
        return few;
    }
    base_ = least_due(list);
    for (std::uint32_t node = list.first; node != kNone;) {
        const std::uint32_t next = nodes_[node].next;
        place(node);
        node = next;
    }
    return 0;
}

}  // namespace switchfold
