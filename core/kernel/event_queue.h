// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/event_lists.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace switchfold {

/// Two prefetch steps of a handler: what its own fields point to, then what that points to.
enum class Prepare : std::uint8_t { kFirst, kSecond };

/// How a handler's events behave while Scheduler::skip() leaves out periods of a repeating motion.
enum class InSkip : std::uint8_t {
    kStays,   ///< part of the motion: they are postponed by the skipped time
    kPasses,  ///< independent of the motion: they occur meanwhile, at their WorldClock time
    kEnds     ///< the same, but they may change the motion: skipping stops at the first of them
};

/// Receives the events that it posted; `tag` is chosen by the handler.
class EventHandler {
public:
    virtual void on_event(std::uint64_t tag) = 0;
    /// Called shortly before on_event(): may prefetch, must not change state.
    virtual void prepare(Prepare /*step*/) const {}
    [[nodiscard]] virtual InSkip in_skip() const { return InSkip::kStays; }

protected:
    ~EventHandler() = default;
};

/// Events in order of time, and of posting at equal times. No event may be posted before the last
/// one taken, so a radix queue suffices (Ahuja, Mehlhorn, Orlin, Tarjan 1990): an event lies in the
/// slot of the highest digit in which its time differs from the time up to which events have been
/// sorted out, and only the first slot is ever split. Digit widths follow common delays: most
/// events, due within four microseconds, start in a slot of 1,024 ps, and the few events of such a
/// slot are sorted. An event is touched two or three times however many wait; a heap would compare
/// it with a path of other, uncached events.
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
    /// \pre `due` is no earlier than that of the last event taken.
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
    /// Time of the first event. \pre the queue is not empty.
    [[nodiscard]] std::uint64_t next_due() {
        if (first_ == end_)
            refill();
        return nodes_[front_[first_]].due;
    }
    /// Takes the first event; returns false if there is none or it is due after `limit`.
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
    /// Enables look_ahead().
    void watch_ahead() { watched_ = true; }
    [[nodiscard]] bool watched() const { return watched_; }
    /// Distances, in events, at which look_ahead() works.
    enum Sight : std::size_t { kFar, kMiddle, kNear, kSights };
    /// Calls `visit` once for each handler of the next `distance` events, as far as they are
    /// sorted. \pre watched().
    template <class Visit>
    void look_ahead(Sight sight, std::size_t distance, const Visit& visit) {
        const std::size_t end = std::min(end_, first_ + distance);
        for (std::size_t at = std::max(seen_[sight], first_); at < end; ++at)
            visit(nodes_[front_[at]].handler);
        seen_[sight] = end;
    }

private:
    // Bits of a time's digits, from the lowest.
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

    std::vector<std::uint32_t> front_;         ///< sorted nodes: all events up to base_
    std::size_t first_ = 0;                    ///< index in front_ of the next event
    std::size_t end_ = 0;                      ///< number of events in front_
    std::array<std::size_t, kSights> seen_{};  ///< number of events already visited, by distance
    bool watched_ = false;
    std::uint64_t base_ = 0;        ///< ps: all events in the lists below are due later
    std::uint32_t free_ = kNoNode;  ///< list of unused nodes
    std::uint32_t far_levels_ = 0;  ///< bitmap of levels that hold events
    std::vector<Node> nodes_;
    NodeLists<kInstantBits> instants_;
    NodeLists<kNearBits> near_;
    std::array<NodeLists<kFarBits>, kFarLevels> far_;
};

}  // namespace switchfold
