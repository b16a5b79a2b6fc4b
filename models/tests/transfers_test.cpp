// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace switchfold::transfers_test {
namespace {

struct Ends final : CollectiveListener {
    void on_collective_end(std::uint32_t operation) override { ended.push_back(operation); }
    std::vector<std::uint32_t> ended;
};

void send(
    TestMachine& machine, Ends& ends, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
    std::uint64_t tag = 0) {
    const TransferEnd end{from, to, Bytes(bytes), tag};
    machine.engine->start_transfer(from, 2 * from, end, 0, ends);
    machine.engine->start_transfer(to, 2 * to + 1, end, 0, ends);
}

TEST(Transfers, ArriveInsideAMachineAndAcrossTheNetwork) {
    for (const std::uint64_t bytes : {4ULL, 4096ULL, 10'000'004ULL}) {
        TestMachine machine(
            TestMachine::cluster(2, 3), TestMachine::params(), CollectivePolicy(), 1);
        Ends ends;
        send(machine, ends, 0, 2, bytes);
        send(machine, ends, 5, 1, bytes);
        machine.simulation.run();
        EXPECT_EQ(ends.ended.size(), 4U);
        ASSERT_EQ(machine.engine->records().size(), 2U);
        EXPECT_TRUE(machine.engine->wrong_results().empty());
        EXPECT_EQ(machine.fabric.values().live(), 0U);
        for (const CollectiveRecord& record : machine.engine->records()) {
            const bool across = record.sender == 5;
            EXPECT_EQ(record.receiver, across ? 1U : 2U);
            const double rate = static_cast<double>(bytes) / to_seconds(record.end - record.start);
            EXPECT_LT(rate, across ? 50e9 : 420e9);
            if (bytes > 4096) {
                EXPECT_GT(rate, across ? 40e9 : 150e9);
            }
        }
    }
}

TEST(Transfers, OfOneTagAreMatchedInOrder) {
    TestMachine machine(TestMachine::hgx(2).build(), TestMachine::params(), CollectivePolicy(), 1);
    Ends ends;
    const auto start = [&](std::uint32_t rank, std::uint64_t bytes, std::uint64_t tag) {
        machine.engine->start_transfer(rank, 0, {0, 1, Bytes(bytes), tag}, 0, ends);
    };
    start(0, 64, 9);
    start(0, 128, 9);
    start(0, 256, 4);
    start(1, 256, 4);
    start(1, 64, 9);
    start(1, 128, 9);
    machine.simulation.run();
    EXPECT_EQ(ends.ended.size(), 6U);
    EXPECT_EQ(machine.engine->records().size(), 3U);
}

TEST(Transfers, ThatDisagreeAreAnError) {
    TestMachine machine(TestMachine::hgx(2).build(), TestMachine::params(), CollectivePolicy());
    Ends ends;
    machine.engine->start_transfer(0, 0, {0, 1, Bytes(64), 0}, 0, ends);
    EXPECT_THROW(
        machine.engine->start_transfer(1, 0, {0, 1, Bytes(32), 0}, 0, ends), SimulationError);
    EXPECT_THROW(
        machine.engine->start_transfer(1, 0, {1, 1, Bytes(32), 0}, 0, ends), SimulationError);
    EXPECT_THROW(
        machine.engine->start_transfer(1, 0, {1, 2, Bytes(32), 0}, 0, ends), SimulationError);
}

TEST(Transfers, ASendWithoutItsReceiveIsNamed) {
    TestMachine machine(TestMachine::hgx(2).build(), TestMachine::params(), CollectivePolicy());
    Ends ends;
    machine.engine->start_transfer(0, 0, {0, 1, mebibytes(1), 3}, 0, ends);
    machine.simulation.run();
    // The sender has filled the FIFOs at the receiver and may have ended; the transfer has not.
    EXPECT_TRUE(machine.engine->records().empty());
    ASSERT_EQ(machine.engine->blocked().size(), 1U);
    EXPECT_EQ(machine.engine->blocked()[0], "transfer 0 from rank 0 to rank 1 waits for rank 1");
}

/// From the first start to the last end of sends that all begin at once.
Time time_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& sends) {
    TestMachine machine(TestMachine::hgx(4).build(), TestMachine::params(), CollectivePolicy());
    Ends ends;
    for (const auto& [from, to] : sends)
        send(machine, ends, from, to, 256ULL << 20U);
    machine.simulation.run();
    EXPECT_EQ(ends.ended.size(), 2 * sends.size());
    Time end;
    for (const CollectiveRecord& record : machine.engine->records())
        end = std::max(end, record.end);
    return end;
}

/// A link carries both directions at once, and what a rank sends on does not wait for what it
/// receives.
TEST(Transfers, OfTwoDirectionsAndAlongAChainRunAtOnceAtTheLinksRate) {
    const Time alone = time_of({{0, 1}});
    EXPECT_GT((256ULL << 20U) / to_seconds(alone), 320e9);
    EXPECT_NEAR(to_seconds(time_of({{0, 1}, {1, 0}})) / to_seconds(alone), 1.0, 0.05);
    EXPECT_NEAR(to_seconds(time_of({{0, 1}, {1, 2}})) / to_seconds(alone), 1.0, 0.05);
    // Two of one direction share its links.
    EXPECT_NEAR(to_seconds(time_of({{0, 1}, {0, 2}})) / to_seconds(alone), 2.0, 0.1);
}

}  // namespace
}  // namespace switchfold::transfers_test
