// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/event_queue.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

// A slot with at most this many events is sorted instead of being spread over its instants. Events
// posted meanwhile rarely fall into it, because hardly any delay is that short.
constexpr std::size_t kFew = 32;
// A slot is sorted in advance when it holds this many events ...
constexpr std::size_t kInSight = 16;
constexpr std::uint64_t kView = 4096;  // ... within so many ps

/// Sorts the few events of a slot.
struct Few {
    Few() { keys.fill(INT16_MAX); }

    alignas(16) std::array<std::int16_t, kFew> keys;  ///< distinct, except for unused entries
    std::array<std::uint32_t, kFew> nodes{};

    /// Writes the nodes in order of their keys; entries beyond the number of events are undefined.
    /// Counts for each key how many are smaller: this avoids branches, which would be unpredictable
    /// because the order of two events is random.
    template <std::size_t kMost>
    void sort_to(std::uint32_t* sorted) const {
        alignas(16) std::array<std::int16_t, kMost> smaller{};
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kMost; ++i)
            for (std::size_t j = 0; j < kMost; ++j)
                smaller[j] = static_cast<std::int16_t>(smaller[j] + (keys[i] < keys[j] ? 1 : 0));
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kMost; ++i)
            sorted[smaller[i]] = nodes[i];
    }
};

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

void EventQueue::push_elsewhere(const Event& event) {
    if (free_ == kNoNode)
        grow();
    const std::uint32_t node = take_node(event);
    if (event.due <= base_)
        insert(node);
    else
        place(node);
}

void EventQueue::insert(std::uint32_t node) {
    const std::uint64_t due = nodes_[node].due;
    add_to_front(1);
    std::size_t at = end_ - 1;
    for (; at > first_ && nodes_[front_[at - 1]].due > due; --at)
        front_[at] = front_[at - 1];
    front_[at] = node;
    for (std::size_t& seen : seen_)
        if (seen > at)
            ++seen;
}

std::uint32_t* EventQueue::add_to_front(std::size_t count) {
    const std::size_t held = end_;
    end_ += count;
    if (end_ > front_.size())
        front_.resize(2 * end_);
    return &front_[held];
}

bool EventQueue::join_if_few(std::uint32_t list) {
    constexpr std::uint64_t kInstants = (std::uint64_t{1} << kInstantBits) - 1;
    if (nodes_[list].next == kNoNode) {
        *add_to_front(1) = list;
        return true;
    }
    constexpr int kTurns = kFew;
    static_assert(kInstants * kTurns < INT16_MAX - INT16_MIN);
    Few few;
    std::size_t count = 0;
    for (std::uint32_t node = list; node != kNoNode; node = nodes_[node].next) {
        if (count == kFew)
            return false;
        // Key: an event's time within the slot, then its position; the list begins with the last
        // event.
        const auto within = static_cast<int>(nodes_[node].due & kInstants);
        few.keys[count] = static_cast<std::int16_t>(
            INT16_MIN + within * kTurns + (kTurns - 1 - static_cast<int>(count)));
        few.nodes[count++] = node;
    }
    std::uint32_t* added = add_to_front(kFew);
    end_ -= kFew - count;
    if (count <= kFew / 4)
        few.sort_to<kFew / 4>(added);
    else if (count <= kFew / 2)
        few.sort_to<kFew / 2>(added);
    else
        few.sort_to<kFew>(added);
    return true;
}

void EventQueue::join(std::uint32_t list) {
    const std::size_t held = end_;
    for (std::uint32_t node = list; node != kNoNode; node = nodes_[node].next)
        *add_to_front(1) = node;
    std::reverse(&front_[held], &front_[held] + (end_ - held));
}

void EventQueue::place(std::uint32_t node) {
    const std::uint64_t due = nodes_[node].due;
    const std::uint64_t differs = due ^ base_;
    if (differs >> kFarFirst != 0)
        place_far(node);
    else if (differs >> kInstantBits != 0)
        near_.put(nodes_, due >> kInstantBits, node);
    else
        instants_.put(nodes_, due, node);
}

void EventQueue::place_far(std::uint32_t node) {
    const std::uint64_t due = nodes_[node].due;
    const auto highest = 63U - static_cast<std::size_t>(std::countl_zero(due ^ base_));
    const std::size_t level = (highest - kFarFirst) / kFarBits;
    far_[level].put(nodes_, due >> (kFarFirst + level * kFarBits), node);
    far_levels_ |= 1U << level;
}

void EventQueue::spread(std::uint32_t list) {
    // Oldest first, so that events of one instant keep the order of posting.
    std::uint32_t oldest = kNoNode;
    while (list != kNoNode)
        list = std::exchange(nodes_[list].next, std::exchange(oldest, list));
    while (oldest != kNoNode)
        place(std::exchange(oldest, nodes_[oldest].next));
}

void EventQueue::refill() {
    first_ = end_ = 0;
    seen_.fill(0);
    take_first_list();
    if (!watched_)
        return;
    // Continues with the events of the next few nanoseconds, so that look_ahead() sees some.
    const std::uint64_t first = nodes_[front_[0]].due;
    while (end_ < kInSight && (!instants_.empty() || !near_.empty()) && base_ < first + kView)
        take_first_list();
}

void EventQueue::take_first_list() {
    constexpr std::uint64_t kInstants = (std::uint64_t{1} << kInstantBits) - 1;
    // Nothing may be posted between the end of this slot and what is spread here, so it continues
    // until there are events in front.
    while (instants_.empty()) {
        if (near_.empty()) {
            spread_far_list();
            continue;
        }
        const std::uint32_t list = near_.take(near_.first());
        const std::uint64_t start = nodes_[list].due & ~kInstants;
        if (join_if_few(list)) {
            base_ = start | kInstants;
            return;
        }
        base_ = start;
        spread(list);
    }
    const std::uint32_t list = instants_.take(instants_.first());
    base_ = nodes_[list].due;  // of all events in the list
    join(list);
}

void EventQueue::spread_far_list() {
    const auto level = static_cast<std::size_t>(std::countr_zero(far_levels_));
    NodeLists<kFarBits>& slots = far_[level];
    const std::uint32_t list = slots.take(slots.first());
    if (slots.empty())
        far_levels_ &= ~(1U << level);
    // Times in one slot differ only in lower digits.
    const std::size_t lower = kFarFirst + level * kFarBits;
    base_ = nodes_[list].due >> lower << lower;
    spread(list);
}

}  // namespace switchfold
