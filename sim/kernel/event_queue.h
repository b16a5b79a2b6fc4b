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
/// an event lies in the slot of the highest digit in which its time differs from the last one
/// taken, and only the first slot is ever taken apart. An event is touched a few times however many
/// wait, where a heap compares it with a path of others that do not lie in the cache.
class EventQueue {
public:
    struct Event {
        std::uint64_t due;  ///< ps
        EventHandler* handler;
        std::uint64_t tag;
    };

    EventQueue();

    [[nodiscard]] bool empty() const { return levels_ == 0; }
    /// `due` is no earlier than that of the last event taken.
    void push(const Event& event) {
        const std::uint32_t node = allocate();
        static_cast<Event&>(nodes_[node]) = event;
        place(node);
    }
    /// When the first event is due; the queue is not empty.
    [[nodiscard]] std::uint64_t next_due() const;
    /// Takes the first event, unless it is due after `limit` (then returns false).
    bool pop(std::uint64_t limit, Event& event) {
        if (slots_[0].used == 0 && !spread_first(limit))
            return false;
        const auto digit = static_cast<std::size_t>(std::countr_zero(slots_[0].used));
        List& list = slots_[0].lists[digit];
        const std::uint32_t node = list.first;
        Node& first = nodes_[node];
        if (first.due > limit)
            return false;
        event = first;
        last_ = first.due;
        if (first.next != kNone) {
            list.first = first.next;
        } else {
            list.first = kNone;
            clear(0, digit);
        }
        first.next = free_;
        free_ = node;
        return true;
    }
    /// Who gets the next event, as far as that can be seen without a search; null otherwise.
    [[nodiscard]] const EventHandler* likely_next() const {
        if (slots_[0].used == 0)
            return nullptr;
        const auto digit = static_cast<std::size_t>(std::countr_zero(slots_[0].used));
        return nodes_[slots_[0].lists[digit].first].handler;
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
        std::uint32_t first;
        std::uint32_t last;
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
    void place(std::uint32_t node) {
        const std::uint64_t due = nodes_[node].due;
        const auto level =
            (63U - static_cast<std::size_t>(std::countl_zero((due ^ last_) | 1U))) / kDigitBits;
        const auto digit = static_cast<std::size_t>(due >> level * kDigitBits) % kDigits;
        List& list = slots_[level].lists[digit];
        nodes_[node].next = kNone;
        if (list.first == kNone) {
            list.first = node;
            slots_[level].used |= std::uint64_t{1} << digit;
            levels_ |= 1U << level;
        } else {
            nodes_[list.last].next = node;
        }
        list.last = node;
    }
    void clear(std::size_t level, std::size_t digit) {
        slots_[level].used &= ~(std::uint64_t{1} << digit);
        if (slots_[level].used == 0)
            levels_ &= ~(1U << level);
    }
    void grow();
    [[nodiscard]] std::uint64_t earliest(std::uint32_t node) const;
    /// Brings the first events down to level 0, unless they are due after `limit`.
    bool spread_first(std::uint64_t limit);

    std::uint64_t last_ = 0;    ///< due of the last event taken
    std::uint32_t levels_ = 0;  ///< levels that hold events: bits
    std::uint32_t free_ = kNone;
    std::vector<Node> nodes_;
    std::array<Level, kLevels> slots_;
};

}  // namespace switchfold
