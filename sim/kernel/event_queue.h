// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kernel/event_lists.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace switchfold {

/// The two steps of prefetching for a handler: what its own fields point to, then what that points
/// to.
enum class Prepare : std::uint8_t { kFirst, kSecond };

/// How a handler's events behave while Scheduler::skip() leaves out periods of a motion.
enum class InSkip : std::uint8_t {
    kStays,   ///< part of the motion: they come later by what is left out
    kPasses,  ///< they come meanwhile, at their time of the WorldClock
    kEnds     ///< the same, but they may change the motion: nothing is left out beyond the first
};

/// Receives the events that it posted; `tag` is its own.
class EventHandler {
public:
    virtual void on_event(std::uint64_t tag) = 0;
    /// Called shortly before on_event(): may prefetch, must not change state.
    virtual void prepare(Prepare /*step*/) const {}
    [[nodiscard]] virtual InSkip in_skip() const { return InSkip::kStays; }

protected:
    ~EventHandler() = default;
};

/// Events in the order of their time, those of one time in the order of posting. No event may be
/// posted before the last one taken, so a radix queue (Ahuja, Mehlhorn, Orlin, Tarjan 1990) serves:
/// an event lies in the slot of the highest digit in which its time differs from the time up to
/// which events have been sorted out, and only the first slot is ever taken apart. Digits are as
/// wide as delays are common: most events, due within four microseconds, lie in a slot of 1,024
/// ps from the start, and the few of one such slot are sorted. An event is touched two or three
/// times however many wait, where a heap compares it with a path of others that do not lie in the
/// cache.
class EventQueue {
public:
    struct Event {
        std::uint64_t due;  ///< ps
        EventHandler* handler;
        std::uint64_t tag;
    };

    [[nodiscard]] bool empty() const {
        return first_ == end_ && near_.empty() && instants_.empty() && far_levels_ == 0;
    }
    /// `due` is no earlier than that of the last event taken.
    void push(const Event& event) {
        const std::uint64_t differs = event.due ^ base_;
        if (free_ == kNoNode || event.due <= base_ || differs >> kFarFirst != 0) [[unlikely]]
            return push_elsewhere(event);
        const std::uint32_t node = take_node(event);
        if (differs >> kInstantBits != 0)
            near_.put(nodes_, event.due >> kInstantBits, node);
        else
            instants_.put(nodes_, event.due, node);
    }
    /// When the first event is due; the queue is not empty.
    [[nodiscard]] std::uint64_t next_due() {
        if (first_ == end_)
            refill();
        return nodes_[front_[first_]].due;
    }
    /// Takes the first event, unless it is due after `limit` or there is none (then returns false).
    bool pop(std::uint64_t limit, Event& event) {
        if (first_ == end_) {
            if (empty())
                return false;
            refill();
        }
        const std::uint32_t node = front_[first_];
        Node& first = nodes_[node];
        if (first.due > limit)
            return false;
        event = first;
        ++first_;
        first.next = free_;
        free_ = node;
        return true;
    }
    /// From now on look_ahead() sees some events.
    void watch_ahead() { watched_ = true; }
    [[nodiscard]] bool watched() const { return watched_; }
    /// Distances, in events, at which look_ahead() works.
    enum Sight : std::size_t { kFar, kMiddle, kNear, kSights };
    /// Tells `visit` the handlers of the events that come next, as far as they are sorted and no
    /// more than `distance` of them; each once. Of a queue that is watched.
    template <class Visit>
    void look_ahead(Sight sight, std::size_t distance, const Visit& visit) {
        const std::size_t end = std::min(end_, first_ + distance);
        for (std::size_t at = std::max(seen_[sight], first_); at < end; ++at)
            visit(nodes_[front_[at]].handler);
        seen_[sight] = end;
    }

private:
    // The digits of a time, from the lowest.
    static constexpr std::size_t kInstantBits = 10;
    static constexpr std::size_t kNearBits = 12;
    static constexpr std::size_t kFarBits = 6;
    static constexpr std::size_t kFarFirst = kInstantBits + kNearBits;
    static constexpr std::size_t kFarLevels = (64 - kFarFirst + kFarBits - 1) / kFarBits;
    struct Node : Event {
        std::uint32_t next;
    };
    std::uint32_t take_node(const Event& event) {
        const std::uint32_t node = free_;
        Node& taken = nodes_[node];
        free_ = taken.next;
        static_cast<Event&>(taken) = event;
        return node;
    }
    void push_elsewhere(const Event& event);
    void place(std::uint32_t node);
    void place_far(std::uint32_t node);
    void grow();
    void insert(std::uint32_t node);
    void refill();
    void take_first_list();
    bool join_if_few(std::uint32_t list);
    void join(std::uint32_t list);
    std::uint32_t* add_to_front(std::size_t count);
    void spread_far_list();
    void spread(std::uint32_t list);

    std::vector<std::uint32_t> front_;         ///< nodes, sorted: all events up to base_
    std::size_t first_ = 0;                    ///< in front_, that has not been taken
    std::size_t end_ = 0;                      ///< of those in front_
    std::array<std::size_t, kSights> seen_{};  ///< ends of those that have been looked at
    bool watched_ = false;
    std::uint64_t base_ = 0;        ///< ps: all events in the lists below are due after
    std::uint32_t free_ = kNoNode;  ///< nodes that hold no event
    std::uint32_t far_levels_ = 0;  ///< levels that hold events: bits
    std::vector<Node> nodes_;
    NodeLists<kInstantBits> instants_;
    NodeLists<kNearBits> near_;
    std::array<NodeLists<kFarBits>, kFarLevels> far_;
};

}  // namespace switchfold
