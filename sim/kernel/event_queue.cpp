// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/event_queue.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {
// A slot of no more events than this is sorted and not spread over its instants. What is posted
// meanwhile seldom falls in between: hardly any delay is so short.
constexpr std::size_t kFew = 32;
constexpr std::size_t kInSight = 16;   // events to sort ahead of time, if so many
constexpr std::uint64_t kView = 4096;  // ps, are no further apart than this
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
    if (front_.empty() || nodes_[front_.last].due <= due) {
        nodes_[node].next = kNoNode;
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

void EventQueue::join(const NodeList& list) {
    (front_.empty() ? front_.first : nodes_[front_.last].next) = list.first;
    front_.last = list.last;
    for (Cursor& cursor : ahead_)
        if (cursor.node == kNoNode)
            cursor.node = list.first;
}

NodeList EventQueue::sorted(const NodeList& list) {
    // By insertion from behind: a list is short, and its events seldom come out of order.
    NodeList result;
    for (std::uint32_t node = list.first; node != kNoNode;) {
        const std::uint32_t next = nodes_[node].next;
        const std::uint64_t due = nodes_[node].due;
        if (result.empty() || nodes_[result.last].due <= due) {
            result.append(nodes_, node);
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

std::size_t EventQueue::count_if_few(const NodeList& list) const {
    std::size_t count = 0;
    for (std::uint32_t node = list.first; node != kNoNode; node = nodes_[node].next)
        if (++count > kFew)
            return 0;
    return count;
}

void EventQueue::place_far(std::uint32_t node) {
    const std::uint64_t due = nodes_[node].due;
    const auto highest = 63U - static_cast<std::size_t>(std::countl_zero(due ^ base_));
    const std::size_t level = (highest - kFarFirst) / kFarBits;
    far_[level].append(nodes_, due >> (kFarFirst + level * kFarBits), node);
    far_levels_ |= 1U << level;
}

void EventQueue::spread(const NodeList& list) {
    // Events keep their order on the way: those of one time stay in the order of posting.
    for (std::uint32_t node = list.first; node != kNoNode;) {
        const std::uint32_t next = nodes_[node].next;
        place(node);
        node = next;
    }
}

void EventQueue::refill() {
    std::size_t events = take_first_list();
    if (!watched_)
        return;
    // On to the events of the next few nanoseconds, so that look_ahead() sees some.
    const std::uint64_t first = nodes_[front_.first].due;
    while (events < kInSight && (!instants_.empty() || !near_.empty()) && base_ < first + kView)
        events += take_first_list();
}

std::size_t EventQueue::take_first_list() {
    constexpr std::uint64_t kInstants = (std::uint64_t{1} << kInstantBits) - 1;
    // Nothing may be posted between the end of this and what is spread here, so it goes on until
    // some events are in front.
    while (instants_.empty()) {
        if (near_.empty()) {
            spread_far_list();
            continue;
        }
        const NodeList list = near_.take(near_.first());
        const std::uint64_t start = nodes_[list.first].due & ~kInstants;
        if (const std::size_t few = count_if_few(list); few > 0) {
            join(few == 1 ? list : sorted(list));
            base_ = start | kInstants;
            return few;
        }
        base_ = start;
        spread(list);
    }
    const NodeList list = instants_.take(instants_.first());
    base_ = nodes_[list.first].due;  // of all of them
    join(list);
    return list.first == list.last ? 1 : kInSight;
}

void EventQueue::spread_far_list() {
    const auto level = static_cast<std::size_t>(std::countr_zero(far_levels_));
    NodeLists<kFarBits>& slots = far_[level];
    const NodeList list = slots.take(slots.first());
    if (slots.empty())
        far_levels_ &= ~(1U << level);
    // What lies in one slot differs in lower digits only.
    const std::size_t lower = kFarFirst + level * kFarBits;
    base_ = nodes_[list.first].due >> lower << lower;
    spread(list);
}

}  // namespace switchfold
