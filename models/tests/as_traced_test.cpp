// SPDX-License-Identifier: Apache-2.0
// Collectives that take their traced time, and what others take from their traced kernels.
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace switchfold::as_traced_test {
namespace {

CollectiveOperation given(CollectiveKind kind, Time time, std::uint32_t blocks) {
    CollectiveOperation operation;
    operation.kind = kind;
    operation.given = time;
    operation.holds_blocks = true;
    operation.thread_blocks = blocks;
    return operation;
}

TestMachine machine_of(std::uint32_t gpus, std::uint64_t functional_seed = 0) {
    return TestMachine(
        TestMachine::hgx(gpus).build(), TestMachine::params(), CollectivePolicy(ring_policy()),
        functional_seed);
}

TEST(AsTraced, TakesItsTimeAndMovesNothing) {
    for (const std::uint32_t gpus : {1U, 4U})
        for (const CollectiveKind kind : kCollectiveKinds) {
            TestMachine machine = machine_of(gpus, 5);
            const CollectiveRecord record = machine.run(given(kind, microseconds(123), 6));
            EXPECT_EQ(machine.ended, gpus);
            EXPECT_EQ(record.end - record.ready, microseconds(123)) << to_string(kind);
            EXPECT_TRUE(record.as_traced);
            EXPECT_EQ(record.choice.channels, 6U);
            for (const auto& port : machine.ports) {
                EXPECT_EQ(port->most_blocks, 6U);
                EXPECT_EQ(port->bytes_read + port->bytes_written, 0U);
            }
            for (const auto& link : machine.fabric.links())
                EXPECT_EQ(link->statistics().payload_bytes, 0U);
        }
}

TEST(AsTraced, OfUnknownBlocksHasOne) {
    TestMachine machine = machine_of(2);
    machine.run(given(CollectiveKind::kAllGather, microseconds(5), 0));
    EXPECT_EQ(machine.ports.front()->most_blocks, 1U);
}

TEST(AsTraced, AsksTheMemoryEvenlyForTheBytesThatAreGiven) {
    for (const std::uint64_t bytes : {1ULL, 999'999ULL, 123'456'789'012ULL}) {
        TestMachine machine = machine_of(2);
        CollectiveOperation operation = given(CollectiveKind::kAllGather, nanoseconds(123'400), 6);
        operation.given_traffic = Bytes(bytes);
        const CollectiveRecord record = machine.run(operation);
        // An ideal memory holds nothing up.
        EXPECT_EQ(record.end - record.ready, nanoseconds(123'400));
        for (const auto& port : machine.ports)
            EXPECT_EQ(port->bytes_read + port->bytes_written, bytes);
    }
}

TEST(AsTraced, EndsLaterWhereTheMemoryHoldsItsBytesUp) {
    const auto takes = [](std::uint64_t bytes) {
        TestMachine machine = machine_of(1);
        machine.ports.front()->bytes_per_second = 1e9;
        CollectiveOperation operation = given(CollectiveKind::kAllGather, microseconds(100), 2);
        operation.given_traffic = Bytes(bytes);
        const CollectiveRecord record = machine.run(operation);
        return record.end - record.ready;
    };
    EXPECT_NEAR(to_seconds(takes(200'000)), 200e-6, 1e-6);
    EXPECT_EQ(takes(99'000), microseconds(100));
}

/// Two that keep their links busy for so much of 100 us: those with one number share them.
TEST(AsTraced, TakesTurnsOnTheLinksWithItsLike) {
    struct Calls final : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    };
    const auto takes = [](Time busy, std::uint32_t number) {
        TestMachine machine = machine_of(1);
        Calls calls;
        for (std::uint32_t sequence = 0; sequence < 2; ++sequence) {
            CollectiveOperation operation = given(CollectiveKind::kAllGather, microseconds(100), 2);
            operation.sequence = sequence;
            operation.given_traffic = Bytes(1000);
            operation.given_links = number;
            operation.given_busy = busy;
            machine.engine->start(0, sequence, operation, 0, calls);
        }
        machine.simulation.run();
        return machine.engine->records().back().end;
    };
    EXPECT_EQ(takes(microseconds(100), 0), microseconds(100));
    EXPECT_NEAR(to_seconds(takes(microseconds(100), 1)), 200e-6, 1e-6);
    EXPECT_NEAR(to_seconds(takes(microseconds(80), 1)), 160e-6, 2e-6);
    EXPECT_NEAR(to_seconds(takes(microseconds(40), 1)), 100e-6, 1e-6);
}

TEST(AsTraced, OfUnknownBlocksHasOneUnlessItMovesBytes) {
    TestMachine machine = machine_of(2);
    CollectiveOperation operation = given(CollectiveKind::kAllGather, microseconds(5), 0);
    operation.given_traffic = Bytes(1000);
    machine.run(operation);
    EXPECT_EQ(machine.ports.front()->occupied, 0U);
}

TEST(AsTraced, WaitsForRanksThatAreLate) {
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
        TestMachine machine = machine_of(4);
        CollectiveOperation operation = given(kind, microseconds(70), 2);
        operation.peers_late = microseconds(30);
        const CollectiveRecord record = machine.run(operation);
        EXPECT_EQ(record.ready - record.start, microseconds(30));
        EXPECT_EQ(record.end - record.start, microseconds(100));
    }
}

/// A rank that comes later than the others, and is the one that they wait for.
TEST(AsTraced, CountsFromTheLastArrival) {
    struct Call final : EventHandler, CollectiveListener {
        explicit Call(TestMachine& m) : machine(m) {}
        void on_event(std::uint64_t rank) override {
            machine.engine->start(
                static_cast<std::uint32_t>(rank), 0,
                given(CollectiveKind::kReduceScatter, microseconds(40), 2), 0, *this);
        }
        void on_collective_end(std::uint32_t) override {
            EXPECT_EQ(machine.simulation.scheduler().now(), microseconds(65));
            ++ended;
        }
        TestMachine& machine;
        int ended = 0;
    };
    TestMachine machine = machine_of(2);
    Call call(machine);
    machine.simulation.scheduler().at(Time(), call, 0);
    machine.simulation.scheduler().at(microseconds(25), call, 1);
    machine.simulation.run();
    EXPECT_EQ(call.ended, 2);
    const CollectiveRecord& record = machine.engine->records().front();
    EXPECT_EQ(record.ready, microseconds(25));
    EXPECT_EQ(record.end, microseconds(65));
}

CollectiveOperation traced(const std::string& algorithm, std::uint64_t sequence) {
    CollectiveOperation operation;
    operation.kind = CollectiveKind::kAllGather;
    operation.bytes = mebibytes(16);
    operation.thread_blocks = 2;
    operation.registers_per_thread = 32;
    operation.algorithm = ShortText(algorithm);
    operation.sequence = sequence;
    return operation;
}

TEST(TracedKernel, ARingHasTheBlocksOfATracedRing) {
    for (const char* algorithm : {"", "ring", "tree"}) {
        TestMachine machine = machine_of(4);
        EXPECT_EQ(machine.run(traced(algorithm, 0)).choice.channels, 2U);
        EXPECT_TRUE(machine.engine->notes().empty());
    }
}

TEST(TracedKernel, ARingHasItsOwnBlocksWhereTheTraceRanAnotherKernel) {
    TestMachine own = machine_of(4);
    CollectiveOperation unknown = traced("", 0);
    unknown.thread_blocks = 0;
    const std::uint32_t channels = own.run(unknown).choice.channels;
    ASSERT_GT(channels, 2U);
    for (const char* algorithm : {"nvls", "symmetric", "collnet_direct"}) {
        TestMachine machine = machine_of(4);
        for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
            EXPECT_EQ(machine.run(traced(algorithm, sequence)).choice.channels, channels);
            ASSERT_EQ(machine.engine->notes().size(), 1U);
        }
        EXPECT_EQ(
            machine.engine->notes().front(),
            std::string("the trace ran 3 collectives with another kernel (") + algorithm +
                "): here they run as ring, with thread blocks of their own");
    }
}

TEST(TracedKernel, ADirectExchangeHasItsOwnBlocksToo) {
    const auto channels = [](const std::string& algorithm, std::uint32_t blocks) {
        TestMachine machine = machine_of(4);
        CollectiveOperation operation = traced(algorithm, 0);
        operation.kind = CollectiveKind::kAllToAll;
        operation.thread_blocks = blocks;
        return machine.run(operation).choice.channels;
    };
    EXPECT_EQ(channels("", 4), 4U);
    EXPECT_EQ(channels("symmetric", 4), channels("", 0));
    EXPECT_GT(channels("", 0), 4U);
}

}  // namespace
}  // namespace switchfold::as_traced_test
