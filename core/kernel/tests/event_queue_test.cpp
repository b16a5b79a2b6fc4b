// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/event_queue.h"

#include "core/random_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold::event_queue_test {
namespace {

/// Reference by linear search: the first event is the one due earliest; among equals, the one
/// posted first.
class Reference {
public:
    void push(std::uint64_t due, std::uint64_t tag) { events_.emplace_back(due, tag); }
    [[nodiscard]] bool empty() const { return events_.empty(); }
    [[nodiscard]] std::uint64_t next_due() const { return first()->first; }
    std::optional<std::pair<std::uint64_t, std::uint64_t>> pop(std::uint64_t limit) {
        if (events_.empty() || first()->first > limit)
            return std::nullopt;
        const auto event = *first();
        events_.erase(first());
        return event;
    }

private:
    [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>>::const_iterator
    first() const {
        return std::min_element(events_.begin(), events_.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> events_;
};

RC_GTEST_PROP(EventQueueProperty, AgreesWithASearch, ()) {
    // A delay has few significant bits, so many events share a time. The shift covers every
    // magnitude. Subtracting one puts some events at the end of a slot.
    const auto operations =
        *rc::gen::container<std::vector<std::tuple<unsigned, std::uint64_t, unsigned>>>(
            rc::gen::tuple(
                rc::gen::inRange(0U, 8U), rc::gen::inRange<std::uint64_t>(0, 8),
                rc::gen::inRange(0U, 58U)));
    EventQueue queue;
    Reference reference;
    std::uint64_t now = 0;
    std::uint64_t tag = 0;
    const auto pop = [&](std::uint64_t limit) {
        EventQueue::Event event{};
        const auto expected = reference.pop(limit);
        RC_ASSERT(queue.pop(limit, event) == expected.has_value());
        if (!expected)
            return;
        RC_ASSERT(std::make_pair(event.due, event.tag) == *expected);
        now = event.due;
    };
    for (const auto& [kind, value, shift] : operations) {
        const std::uint64_t delay = value << shift;
        const std::uint64_t due = kind % 2 == 1 && delay > 0 ? now + delay - 1 : now + delay;
        if (kind < 4) {
            reference.push(due, tag);
            queue.push({due, nullptr, tag++});
        } else {
            pop(kind < 6 ? due : UINT64_MAX);
        }
        RC_ASSERT(queue.empty() == reference.empty());
        if (!queue.empty())
            RC_ASSERT(queue.next_due() == reference.next_due());
    }
    while (!reference.empty())
        pop(UINT64_MAX);
    RC_ASSERT(queue.empty());
}

TEST(EventQueue, ALimitThatIsNotReachedLeavesRoomForEarlierEvents) {
    EventQueue queue;
    EventQueue::Event event{};
    queue.push({1'000'000, nullptr, 0});
    EXPECT_FALSE(queue.pop(999'999, event));
    queue.push({5, nullptr, 1});
    ASSERT_TRUE(queue.pop(999'999, event));
    EXPECT_EQ(event.tag, 1U);
    EXPECT_EQ(queue.next_due(), 1'000'000U);
}

TEST(EventQueue, TheOrderOfPostingHoldsAcrossTheEndOfASlot) {
    EventQueue queue;
    EventQueue::Event event{};
    queue.push({63, nullptr, 0});
    queue.push({69, nullptr, 1});
    ASSERT_TRUE(queue.pop(UINT64_MAX, event));
    queue.push({69, nullptr, 2});
    queue.push({66, nullptr, 3});
    for (const std::uint64_t tag : {3U, 1U, 2U}) {
        ASSERT_TRUE(queue.pop(UINT64_MAX, event));
        EXPECT_EQ(event.tag, tag);
    }
}

RC_GTEST_PROP(EventQueueProperty, ACrowdComesInOrderAndIsSeenInOrder, ()) {
    struct Handler final : EventHandler {
        void on_event(std::uint64_t) override {}
    };
    // Many delays share a slot or an instant; others reach beyond the next slots.
    const auto spread = *rc::gen::element<std::uint64_t>(1, 64, 1000, 100'000, 50'000'000);
    RandomStream stream(*rc::gen::arbitrary<std::uint64_t>(), "crowd");
    const auto delay = [&] {
        return static_cast<std::uint64_t>(stream.share() * static_cast<double>(spread));
    };
    constexpr std::size_t kEvents = 2000;
    std::vector<Handler> handlers(kEvents);
    std::vector<std::uint32_t> seen(kEvents);
    EventQueue queue;
    queue.watch_ahead();
    std::set<std::pair<std::uint64_t, std::uint64_t>> reference;
    std::uint64_t tag = 0;
    const auto post = [&](std::uint64_t due) {
        queue.push({due, &handlers[tag], tag});
        reference.emplace(due, tag++);
    };
    while (tag < kEvents / 2)
        post(delay());
    EventQueue::Event event{};
    while (queue.pop(UINT64_MAX, event)) {
        RC_ASSERT(std::make_pair(event.due, event.tag) == *reference.begin());
        reference.erase(reference.begin());
        queue.look_ahead(EventQueue::kNear, 4, [&](const EventHandler* handler) {
            const auto at =
                static_cast<std::size_t>(static_cast<const Handler*>(handler) - handlers.data());
            ++seen[at];
        });
        if (tag < kEvents)
            post(event.due + delay());
    }
    RC_ASSERT(reference.empty());
    RC_ASSERT(*std::max_element(seen.begin(), seen.end()) == 1U);
}

TEST(EventQueue, LooksAtEachEventOnceAndNoFurtherThanAsked) {
    struct Handler final : EventHandler {
        void on_event(std::uint64_t) override {}
    };
    constexpr std::uint32_t kEvents = 12;
    const std::uint32_t distance = 3;
    std::array<Handler, kEvents + 1> handlers;
    EventQueue queue;
    queue.watch_ahead();
    for (std::uint32_t i = 0; i < kEvents; ++i)
        queue.push({1'000'000 + 100 * i, &handlers[i], i});
    std::vector<std::ptrdiff_t> seen;
    const auto look = [&] {
        queue.look_ahead(EventQueue::kFar, distance, [&](const EventHandler* handler) {
            seen.push_back(static_cast<const Handler*>(handler) - handlers.data());
        });
    };
    EventQueue::Event event{};
    ASSERT_TRUE(queue.pop(UINT64_MAX, event));
    look();
    EXPECT_EQ(seen, (std::vector<std::ptrdiff_t>{1, 2, 3}));
    ASSERT_TRUE(queue.pop(UINT64_MAX, event));
    look();
    EXPECT_EQ(seen.back(), 4);
    // An event posted among those already looked at takes one of their places.
    queue.push({event.due + 50, &handlers[kEvents], kEvents});
    ASSERT_TRUE(queue.pop(UINT64_MAX, event));
    EXPECT_EQ(event.tag, kEvents);
    look();
    while (queue.pop(UINT64_MAX, event))
        look();
    EXPECT_EQ(seen, (std::vector<std::ptrdiff_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(EventQueue, TheLastPicosecondIsATime) {
    EventQueue queue;
    EventQueue::Event event{};
    queue.push({UINT64_MAX, nullptr, 0});
    queue.push({UINT64_MAX, nullptr, 1});
    queue.push({0, nullptr, 2});
    for (const std::uint64_t tag : {2U, 0U, 1U}) {
        ASSERT_TRUE(queue.pop(UINT64_MAX, event));
        EXPECT_EQ(event.tag, tag);
    }
    EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace switchfold::event_queue_test
