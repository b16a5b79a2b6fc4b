// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Receives what it asked the Scheduler to send it; `tag` is the receiver's own.
class EventHandler {
public:
    virtual void on_event(std::uint64_t tag) = 0;
    /// An event of its comes soon: it may ask for memory that it will touch then, and do no more.
    virtual void prepare() const {}

protected:
    ~EventHandler() = default;
};

/// Events in the order of their time, those of one time in the order of posting. No event may be
/// posted before the last one taken, so a radix queue (Ahuja, Mehlhorn, Orlin, Tarjan 1990) serves:
/// an event lies in the slot of the highest digit in which its time differs from the time up to
/// which events have been sorted out, and only the first slot is ever taken apart. The few events
/// that come next are kept sorted. An event is touched two or three times however many wait, where
/// a heap compares it with a path of others that do not lie in the cache.
class EventQueue {
public:
    struct Event {
        std::uint64_t due;  ///< ps
        EventHandler* handler;
        std::uint64_t tag;
    };

    [[nodiscard]] bool empty() const { return front_.first == kNone && levels_ == 0; }
    /// `due` is no earlier than that of the last event taken.
    void push(const Event& event) {
        const std::uint32_t node = allocate();
        static_cast<Event&>(nodes_[node]) = event;
        if (event.due <= base_)
            insert(node);
        else
            place(node);
    }
    /// When the first event is due; the queue is not empty.
    [[nodiscard]] std::uint64_t next_due() {
        if (front_.first == kNone)
            refill();
        return nodes_[front_.first].due;
    }
    /// Takes the first event, unless it is due after `limit` or there is none (then returns false).
    bool pop(std::uint64_t limit, Event& event) {
        if (empty() || next_due() > limit)
            return false;
        const std::uint32_t node = front_.first;
        Node& first = nodes_[node];
        event = first;
        front_.first = first.next;
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
    /// Two distances at which events can be looked at before they come.
    enum Sight : std::size_t { kFar, kNear };
    /// Tells `visit` the handlers of the events that come next, as far as they are sorted and no
    /// more than `distance` of them; each once.
    template <class Visit>
    void look_ahead(Sight sight, std::uint32_t distance, const Visit& visit) {
        Cursor& cursor = ahead_[sight];
        for (; cursor.distance < distance && cursor.node != kNone; ++cursor.distance) {
            visit(nodes_[cursor.node].handler);
            cursor.node = nodes_[cursor.node].next;
        }
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    static constexpr std::size_t kDigitBits = 6;
    static constexpr std::size_t kDigits = 1U << kDigitBits;
    static constexpr std::size_t kLevels = (64 + kDigitBits - 1) / kDigitBits;
    struct Node : Event {
        std::uint32_t next;
    };
    struct List {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };
    /// The first event in front that has not been looked at, and how many are before it.
    struct Cursor {
        std::uint32_t node = kNone;
        std::uint32_t distance = 0;
    };
    struct Level {
        std::uint64_t used = 0;  ///< digits whose list is not empty: bits
        std::array<List, kDigits> lists;
    };

    std::uint32_t allocate() {
        if (free_ == kNone)
            grow();
        const std::uint32_t node = free_;
        free_ = nodes_[node].next;
        return node;
    }
    void append(List& list, std::uint32_t node) {
        nodes_[node].next = kNone;
        if (list.first == kNone)
            list.first = node;
        else
            nodes_[list.last].next = node;
        list.last = node;
    }
    void place(std::uint32_t node) {
        const std::uint64_t due = nodes_[node].due;
        const auto level =
            (63U - static_cast<std::size_t>(std::countl_zero((due ^ base_) | 1U))) / kDigitBits;
        const auto digit = static_cast<std::size_t>(due >> level * kDigitBits) % kDigits;
        append(slots_[level].lists[digit], node);
        slots_[level].used |= std::uint64_t{1} << digit;
        levels_ |= 1U << level;
    }
    void grow();
    void insert(std::uint32_t node);
    void join(const List& list);
    [[nodiscard]] List sorted(const List& list);
    void refill();
    std::size_t take_first_list();
    [[nodiscard]] std::uint64_t least_due(const List& list) const;
    [[nodiscard]] std::size_t count_if_short(const List& list) const;

    List front_;  ///< sorted: all events up to base_
    std::array<Cursor, 2> ahead_;
    std::uint64_t base_ = 0;    ///< ps: all events in the levels are due after
    std::uint32_t levels_ = 0;  ///< levels that hold events: bits
    std::uint32_t free_ = kNone;
    std::vector<Node> nodes_;
    std::array<Level, kLevels> slots_;
};

}  // namespace switchfold
