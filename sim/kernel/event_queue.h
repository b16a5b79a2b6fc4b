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
        first.next = free_;
        free_ = node;
        return true;
    }
    /// Who gets the next event, as far as that can be seen without a search; null otherwise.
    [[nodiscard]] const EventHandler* likely_next() const {
        return front_.first != kNone ? nodes_[front_.first].handler : nullptr;
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
    void refill();
    [[nodiscard]] std::uint64_t least_due(const List& list) const;
    [[nodiscard]] bool is_short(const List& list) const;

    List front_;                ///< sorted: all events up to base_
    std::uint64_t base_ = 0;    ///< ps: all events in the levels are due after
    std::uint32_t levels_ = 0;  ///< levels that hold events: bits
    std::uint32_t free_ = kNone;
    std::vector<Node> nodes_;
    std::array<Level, kLevels> slots_;
};

}  // namespace switchfold
