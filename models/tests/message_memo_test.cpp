// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/message_times.h"
#include "models/tests/link_bytes.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold::message_memo_test {
namespace {

constexpr Time us(std::uint64_t microseconds) {
    return Time(microseconds * 1'000'000);
}

TEST(MessageTimes, AreKnownOfTheEndThatComesFirst) {
    MessageTimes times;
    EXPECT_FALSE(times.knows(false));
    times.learn({us(100), us(0), us(150), us(200)});
    EXPECT_TRUE(times.knows(false));
    EXPECT_FALSE(times.knows(true)) << "no receiver came late";
    EXPECT_EQ(times.waiting().sender, us(50));
    EXPECT_EQ(times.waiting().receiver, us(100));
    times.learn({us(0), us(10), us(50), us(100)});
    EXPECT_FALSE(times.knows(true)) << "what a late one needs is hidden";
    times.learn({us(0), us(300), us(50), us(320)});
    ASSERT_TRUE(times.knows(true));
    EXPECT_EQ(times.late().alone, us(50));
    EXPECT_EQ(times.late().receiver, us(20));
}

TEST(MessageTimes, OfASenderWhoseFifosAreTooSmallCountFromTheReceiver) {
    MessageTimes times;
    times.learn({us(0), us(0), us(90), us(100)});
    times.learn({us(0), us(500), us(560), us(570)});
    ASSERT_TRUE(times.knows(true));
    EXPECT_FALSE(times.late().alone);
    EXPECT_EQ(times.late().sender, us(60));
    EXPECT_EQ(times.late().receiver, us(70));
}

TEST(MessageTimes, OfALateReceiverAreBoundedByAnEarlierOne) {
    MessageTimes times;
    times.learn({us(0), us(0), us(90), us(100)});
    // It had to wait for data, and so needs 15 at most.
    times.learn({us(0), us(85), us(90), us(100)});
    ASSERT_TRUE(times.knows(true));
    EXPECT_EQ(times.late().receiver, us(15));
}

struct Call final : EventHandler {
    void on_event(std::uint64_t) override { what(); }
    std::function<void()> what;
};

/// A message, and when its ends come.
struct Message {
    std::uint32_t from;
    std::uint32_t to;
    Time sends;
    Time receives;
};

/// What messages of 16 MiB between machines took, from the last end's coming, and how.
struct MessagesRun : CollectiveListener {
    explicit MessagesRun(bool remembers, const std::vector<Message>& messages) :
        machine(TestMachine::cluster(4, 1), TestMachine::params(), CollectivePolicy()),
        bytes(machine.fabric) {
        machine.engine->allow_shortcuts(bytes, Recall::kAlone);
        if (remembers)
            machine.engine->remember_messages(bytes);
        std::vector<std::unique_ptr<Call>> calls;
        std::uint64_t tag = 0;
        for (const Message& message : messages) {
            const TransferEnd end{message.from, message.to, Bytes(16U << 20U), ++tag};
            for (const bool sends : {true, false}) {
                Call& call = *calls.emplace_back(std::make_unique<Call>());
                call.what = [this, end, sends] {
                    machine.engine->start_transfer(
                        sends ? end.sender : end.receiver, 0, end, 0, *this);
                };
                machine.fabric.scheduler().at(sends ? message.sends : message.receives, call, 0);
            }
        }
        machine.simulation.run();
        for (const CollectiveRecord& record : machine.engine->records())
            ends.emplace_back(record.tag, record.end);
        std::ranges::sort(ends);
        events = machine.fabric.scheduler().events();
    }
    void on_collective_end(std::uint32_t) override {}

    TestMachine machine;
    LinkBytes bytes;
    std::vector<std::pair<std::uint64_t, Time>> ends;  ///< by tag
    std::uint64_t events = 0;
};

void expect_alike(const std::vector<Message>& messages, double tolerance, double events) {
    const MessagesRun exact(false, messages);
    const MessagesRun remembered(true, messages);
    ASSERT_EQ(exact.ends.size(), messages.size());
    ASSERT_EQ(remembered.ends.size(), messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Time begin = std::max(messages[i].sends, messages[i].receives);
        EXPECT_NEAR(
            to_seconds(remembered.ends[i].second - begin) /
                to_seconds(exact.ends[i].second - begin),
            1, tolerance)
            << "message " << i;
    }
    EXPECT_LT(static_cast<double>(remembered.events), events * static_cast<double>(exact.events));
}

TEST(MessageMemo, OneLikeAnEarlierOneTakesAsLong) {
    std::vector<Message> messages;
    for (std::uint64_t i = 0; i < 10; ++i)  // over other links of the same kind, too
        messages.push_back(
            {static_cast<std::uint32_t>(i % 3), static_cast<std::uint32_t>(i % 3 + 1),
             us(5000 * i + 1000), us(5000 * i)});
    expect_alike(messages, 0.002, 0.5);
}

TEST(MessageMemo, LateReceiversFindTheirDataInFifos) {
    std::vector<Message> messages;
    messages.push_back({0, 1, us(1000), us(0)});
    for (std::uint64_t i = 1; i < 12; ++i)
        messages.push_back({0, 1, us(10'000 * i), us(10'000 * i + 400 * (12 - i))});
    expect_alike(messages, 0.02, 0.4);
}

TEST(MessageMemo, ThoseOfOneSenderShareItsLinks) {
    std::vector<Message> messages;
    messages.push_back({0, 1, us(1000), us(0)});
    messages.push_back({0, 2, us(11'000), us(10'000)});
    for (std::uint64_t i = 0; i < 6; ++i) {
        messages.push_back({0, 1, us(10'000 * i + 31'000), us(10'000 * i + 30'000)});
        messages.push_back({0, 2, us(10'000 * i + 31'100), us(10'000 * i + 30'000)});
    }
    expect_alike(messages, 0.1, 0.5);
}

TEST(MessageMemo, NoneDoWithoutIt) {
    const std::vector<Message> messages{{0, 1, us(1), us(0)}, {0, 1, us(9000), us(8000)}};
    const MessagesRun exact(false, messages);
    const MessagesRun again(false, messages);
    EXPECT_EQ(exact.ends, again.ends);
    EXPECT_EQ(exact.events, again.events);
}

}  // namespace
}  // namespace switchfold::message_memo_test
