// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kernel/event_lists.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace switchfold {

/// The steps in which a handler asks for memory: what it refers to itself, and, once that is there,
/// what this refers to.
enum class Prepare : std::uint8_t { kFirst, kSecond };

/// Receives what it asked the Scheduler to send it; `tag` is the receiver's own.
class EventHandler {
public:
    virtual void on_event(std::uint64_t tag) = 0;
    /// An event of its comes soon: it may ask for memory that it will touch then, and do no more.
    virtual void prepare(Prepare /*step*/) const {}

protected:
    ~EventHandler() = default;
};

/// Events in the order of their time, those of one time in the order of posting. No event may be
/// posted before the last one taken, so a radix queue (Ahuja, Mehlhorn, Orlin, Tarjan 1990) serves:
/// an event lies in the slot of the highest digit in which its time differs from the time up to
/// which events have been sorted out, and only the first slot is ever taken apart. Digits are as
/// wide as delays are common: most events, due within two microseconds, lie in a slot of 512 ps
/// from the start, and the few of one such slot are sorted. An event is touched two or three times
/// however many wait, where a heap compares it with a path of others that do not lie in the cache.
class EventQueue {
public:
    struct Event {
        std::uint64_t due;  ///< ps
        EventHandler* handler;
        std::uint64_t tag;
    };

    [[nodiscard]] bool empty() const {
        return front_.empty() && near_.empty() && instants_.empty() && far_levels_ == 0;
    }
    /// `due` is no earlier than that of the last event taken.
    void push(const Event& event) {
        if (free_ == kNoNode)
            grow();
        const std::uint32_t node = free_;
        free_ = nodes_[node].next;
        static_cast<Event&>(nodes_[node]) = event;
        if (event.due <= base_)
            insert(node);
        else
            place(node);
    }
    /// When the first event is due; the queue is not empty.
    [[nodiscard]] std::uint64_t next_due() {
        if (front_.empty())
            refill();
        return nodes_[front_.first].due;
    }
    /// Takes the first event, unless it is due after `limit` or there is none (then returns false).
    bool pop(std::uint64_t limit, Event& event) {
        if (front_.empty()) {
            if (empty())
                return false;
            refill();
        }
        const std::uint32_t node = front_.first;
        Node& first = nodes_[node];
        if (first.due > limit)
            return false;
        event = first;
        front_.first = first.next;
        if (watched_)
            for (Cursor& cursor : ahead_) {
                if (cursor.distance == 0)
                    cursor.node = first.next;
                else
                    --cursor.distance;
            }
        first.next = free_;
        free_ = node;
        return true;
    }
    /// From now on look_ahead() sees some events.
    void watch_ahead() {
        watched_ = true;
        ahead_.fill({front_.first, 0});
    }
    [[nodiscard]] bool watched() const { return watched_; }
    /// Distances at which events can be looked at before they come.
    enum Sight : std::size_t { kFar, kMiddle, kNear, kSights };
    /// Tells `visit` the handlers of the events that come next, as far as they are sorted and no
    /// more than `distance` of them; each once. Of a queue that is watched.
    template <class Visit>
    void look_ahead(Sight sight, std::uint32_t distance, const Visit& visit) {
        Cursor& cursor = ahead_[sight];
        for (; cursor.distance < distance && cursor.node != kNoNode; ++cursor.distance) {
            visit(nodes_[cursor.node].handler);
            cursor.node = nodes_[cursor.node].next;
        }
    }

private:
    // The digits of a time, from the lowest.
    static constexpr std::size_t kInstantBits = 9;
    static constexpr std::size_t kNearBits = 12;
    static constexpr std::size_t kFarBits = 6;
    static constexpr std::size_t kFarFirst = kInstantBits + kNearBits;
    static constexpr std::size_t kFarLevels = (64 - kFarFirst + kFarBits - 1) / kFarBits;
    struct Node : Event {
        std::uint32_t next;
    };
    /// The first event in front that has not been looked at, and how many are before it.
    struct Cursor {
        std::uint32_t node = kNoNode;
        std::uint32_t distance = 0;
    };

    void place(std::uint32_t node) {
        const std::uint64_t due = nodes_[node].due;
        const std::uint64_t differs = due ^ base_;
        if (differs >> kFarFirst != 0)
            place_far(node);
        else if (differs >> kInstantBits != 0)
            near_.append(nodes_, due >> kInstantBits, node);
        else
            instants_.append(nodes_, due, node);
    }
    void place_far(std::uint32_t node);
    void grow();
    void insert(std::uint32_t node);
    void join(const NodeList& list);
    [[nodiscard]] NodeList sorted(const NodeList& list);
    void refill();
    std::size_t take_first_list();
    void spread_far_list();
    void spread(const NodeList& list);
    [[nodiscard]] std::size_t count_if_few(const NodeList& list) const;

    NodeList front_;  ///< sorted: all events up to base_
    std::array<Cursor, kSights> ahead_;
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
