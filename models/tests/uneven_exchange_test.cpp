// SPDX-License-Identifier: Apache-2.0
// All-to-alls whose parts differ: every value where it belongs, and the time of what moves.
#include "core/error.h"
#include "models/collectives/choice/exchange.h"
#include "models/tests/link_bytes.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::uneven_exchange_test {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20U;

UnevenExchange equal_parts(std::uint32_t ranks, std::uint64_t bytes) {
    return {ranks, std::vector<std::uint64_t>(std::size_t{ranks} * ranks, bytes)};
}

UnevenExchange no_parts(std::uint32_t ranks) {
    return equal_parts(ranks, 0);
}

CollectiveOperation
operation_of(std::uint32_t exchange, Datatype datatype = Datatype::kFloat32, Time peers_late = {}) {
    CollectiveOperation operation;
    operation.kind = CollectiveKind::kAllToAll;
    operation.exchange = exchange;
    operation.datatype = datatype;
    operation.peers_late = peers_late;
    return operation;
}

CollectivePolicy by(Protocol protocol) {
    CollectivePolicy policy = ring_policy();
    policy.protocol = protocol;
    return policy;
}

struct Result {
    CollectiveRecord record;
    std::uint64_t link_bytes = 0;
    [[nodiscard]] Time time() const { return record.end - record.start; }
};

Result run_on(
    const Topology& topology, const UnevenExchange& exchange,
    const CollectivePolicy& policy = ring_policy()) {
    TestMachine machine(topology, TestMachine::params(), policy);
    machine.engine->set_exchanges({exchange});
    const CollectiveRecord record = machine.run(operation_of(1));
    return {record, bytes_on_links(machine.fabric)};
}

Result run(const UnevenExchange& exchange, const CollectivePolicy& policy = ring_policy()) {
    return run_on(TestMachine::hgx(exchange.ranks).build(), exchange, policy);
}

Result run_even(
    const Topology& topology, CollectiveKind kind, std::uint64_t bytes,
    const CollectivePolicy& policy = ring_policy()) {
    TestMachine machine(topology, TestMachine::params(), policy);
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = Bytes(bytes);
    const CollectiveRecord record = machine.run(operation);
    return {record, bytes_on_links(machine.fabric)};
}

/// Nothing, a few bytes, odd numbers of elements, and some ten KiB.
UnevenExchange random_exchange(std::uint32_t ranks, std::uint64_t element) {
    UnevenExchange exchange = no_parts(ranks);
    for (std::uint64_t& bytes : exchange.bytes) {
        const auto most = *rc::gen::element<std::uint64_t>(1, 1, 8, 1000, 20'000);
        bytes = element * *rc::gen::inRange<std::uint64_t>(0, most);
    }
    return exchange;
}

RC_GTEST_PROP(UnevenExchange, EveryReceiverEndsWithTheRightValues, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 10);
    const Datatype datatype = *rc::gen::element(Datatype::kFloat32, Datatype::kBfloat16);
    const Protocol protocol = *rc::gen::element(Protocol::kAuto, Protocol::kLl, Protocol::kSimple);
    const bool several = ranks % 2 == 0 && *rc::gen::arbitrary<bool>();
    const auto late = *rc::gen::element<std::uint64_t>(0, 0, 50);
    CollectiveParams params = TestMachine::params();
    params.nccl_version = 22'903;  // LL up to 16 KiB a channel: messages of both protocols
    TestMachine machine(
        several ? TestMachine::cluster(2, ranks / 2) : TestMachine::hgx(ranks).build(), params,
        by(protocol), 7);
    machine.engine->set_exchanges({random_exchange(ranks, size_of(datatype).count())});
    machine.run(operation_of(1, datatype, microseconds(late)));
    RC_ASSERT(machine.ended == ranks);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(machine.engine->blocked().empty());
}

RC_GTEST_PROP(UnevenExchange, OfEqualPartsTakesTheTimeOfTheEvenOne, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 10);
    const bool several = ranks % 2 == 0 && *rc::gen::arbitrary<bool>();
    const Topology topology =
        several ? TestMachine::cluster(2, ranks / 2) : TestMachine::hgx(ranks).build();
    const auto part = 4 * *rc::gen::element<std::uint64_t>(1, 1000, 60'000, 700'000);
    const CollectivePolicy policy =
        by(*rc::gen::element(Protocol::kAuto, Protocol::kLl, Protocol::kSimple));
    const Result uneven = run_on(topology, equal_parts(ranks, part), policy);
    const Result even = run_even(topology, CollectiveKind::kAllToAll, ranks * part, policy);
    RC_ASSERT(uneven.time() == even.time());
    RC_ASSERT(uneven.link_bytes == even.link_bytes);
    RC_ASSERT(uneven.record.bytes == even.record.bytes);
    RC_ASSERT(uneven.record.choice.channels == even.record.choice.channels);
}

TEST(UnevenExchange, OnePairAloneTakesTheTimeOfASend) {
    for (const std::uint64_t bytes : {kMiB, 16 * kMiB}) {
        UnevenExchange exchange = no_parts(8);
        exchange.at(2, 5) = bytes;
        const Topology topology = TestMachine::hgx(8).build();
        const Result pair = run(exchange);
        // Every rank sends to the next, none over the same wires.
        const Result sends = run_even(topology, CollectiveKind::kSendReceive, bytes);
        EXPECT_NEAR(to_seconds(pair.time()) / to_seconds(sends.time()), 1.0, 0.03);
        EXPECT_EQ(pair.record.bytes, Bytes(bytes));
        EXPECT_EQ(pair.link_bytes * 8, sends.link_bytes);
    }
}

TEST(UnevenExchange, WhatStaysOnItsRankCrossesNoLink) {
    UnevenExchange exchange = no_parts(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        exchange.at(rank, rank) = 8 * kMiB;
    EXPECT_EQ(run(exchange).link_bytes, 0U);
}

TEST(UnevenExchange, OfNothingTakesALaunch) {
    const Result nothing = run(no_parts(4));
    const Result even = run_even(TestMachine::hgx(4).build(), CollectiveKind::kAllToAll, 0);
    EXPECT_EQ(nothing.time(), even.time());
    EXPECT_EQ(nothing.record.choice.channels, even.record.choice.channels);
    EXPECT_EQ(nothing.link_bytes, 0U);
}

/// The rank that receives the most is the last to end, and its links are the limit.
TEST(UnevenExchange, ManySendersToOneReceiverShareItsLinks) {
    UnevenExchange to_one = no_parts(8);
    for (std::uint32_t rank = 1; rank < 8; ++rank)
        to_one.at(rank, 0) = 32 * kMiB;
    const double rate = 7 * 32.0 * kMiB / to_seconds(run(to_one).time());
    EXPECT_LT(rate, 425e9);
    EXPECT_GT(rate, 300e9);
}

/// Channels of a pair are all that it may have from 256 KiB on, and times do not fall with bytes.
RC_GTEST_PROP(UnevenExchange, MoreBytesTakeNoLessTime, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 7);
    UnevenExchange some = no_parts(ranks);
    UnevenExchange more = no_parts(ranks);
    for (std::size_t i = 0; i < some.bytes.size(); ++i) {
        some.bytes[i] = *rc::gen::element<std::uint64_t>(0, 1, 2) * kMiB;
        more.bytes[i] = some.bytes[i] + *rc::gen::element<std::uint64_t>(0, 0, 1, 3) * kMiB;
    }
    const CollectivePolicy policy = by(Protocol::kSimple);
    RC_ASSERT(to_seconds(run(some, policy).time()) <= 1.02 * to_seconds(run(more, policy).time()));
}

TEST(UnevenExchange, AMessagesChannelsAndProtocolGoByItsOwnSize) {
    CollectiveParams params;
    params.channels = 24;
    params.nccl_version = 22'903;
    MachineView view;
    view.ranks = view.per_machine = 8;
    view.pair_bandwidth = gigabytes_per_second(370);
    UnevenExchange exchange = no_parts(8);
    exchange.at(0, 1) = 16 * kMiB;
    exchange.at(1, 0) = 64 << 10U;
    exchange.at(2, 0) = 128 << 10U;
    const UnevenChoice chosen = choose_uneven_exchange(params, {}, view, exchange);
    EXPECT_EQ(channels_for_a_peer(chosen.choice), 4U);
    EXPECT_EQ(chosen.choice.protocol, Protocol::kSimple);
    EXPECT_EQ(chosen.messages[1].channels, 4U);
    EXPECT_EQ(chosen.messages[8].channels, 1U);
    EXPECT_EQ(chosen.messages[16].channels, 2U);
    EXPECT_EQ(chosen.messages[16].protocol, Protocol::kSimple);
    exchange.at(2, 0) = 16 << 10U;
    EXPECT_EQ(
        choose_uneven_exchange(params, {}, view, exchange).messages[16].protocol, Protocol::kLl);
}

std::string error_of(const UnevenExchange& exchange, CollectiveKind kind, std::uint32_t other) {
    TestMachine machine(
        TestMachine::hgx(2).build(), TestMachine::params(), CollectivePolicy(ring_policy()));
    machine.engine->set_exchanges({exchange, exchange});
    struct Ends final : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    } ends;
    CollectiveOperation operation = operation_of(1);
    operation.kind = kind;
    try {
        machine.engine->start(0, 0, operation, 0, ends);
        operation.exchange = other;
        machine.engine->start(1, 0, operation, 0, ends);
        machine.simulation.run();
    } catch (const SimulationError& error) {
        return error.what();
    }
    return "";
}

TEST(UnevenExchange, PartsThatAreNotTheGroupsAreRefused) {
    const auto says = [](const std::string& error, const std::string& text) {
        EXPECT_NE(error.find(text), std::string::npos) << error;
    };
    const UnevenExchange good = equal_parts(2, 64);
    EXPECT_EQ(error_of(good, CollectiveKind::kAllToAll, 1), "");
    says(error_of(good, CollectiveKind::kAllToAll, 2), "with other parts");
    says(error_of(good, CollectiveKind::kAllToAll, 0), "with other parts");
    says(error_of(good, CollectiveKind::kAllGather, 1), "expected an all-to-all");
    says(error_of(equal_parts(3, 64), CollectiveKind::kAllToAll, 1), "has 3 ranks");
    says(
        error_of(switchfold::UnevenExchange::of(2), CollectiveKind::kAllToAll, 1),
        "what the group's rank 0 sends to its rank 0");
}

/// Ranks state what they send, which differs.
TEST(UnevenExchange, RanksNeedNotSendTheSame) {
    TestMachine machine(
        TestMachine::hgx(2).build(), TestMachine::params(), CollectivePolicy(ring_policy()), 3);
    UnevenExchange exchange = no_parts(2);
    exchange.at(0, 1) = 3000;
    exchange.at(1, 0) = 1000;
    machine.engine->set_exchanges({exchange});
    struct Ends final : CollectiveListener {
        void on_collective_end(std::uint32_t) override { ++count; }
        int count = 0;
    } ends;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        CollectiveOperation operation = operation_of(1);
        operation.bytes = exchange.sent_by(rank);
        machine.engine->start(rank, rank, operation, 0, ends);
    }
    machine.simulation.run();
    EXPECT_EQ(ends.count, 2);
    EXPECT_TRUE(machine.engine->wrong_results().empty());
    EXPECT_EQ(machine.engine->records().front().bytes, Bytes(3000));
}

TEST(UnevenExchange, CopyEnginesExchangeEqualPartsAlone) {
    CollectivePolicies policies;
    CollectiveParams params = TestMachine::params();
    params.nccl_version = 22'900;
    CollectivePolicy copies;
    copies.kernels = Kernels::kCopyEngine;
    policies.all_reduce = copies;
    const auto by_nccl = [&] {
        TestMachine machine(TestMachine::hgx(4).build(), params, policies);
        machine.engine->set_exchanges({equal_parts(4, kMiB)});
        return machine.run(operation_of(1)).choice.is<NcclConfig>();
    };
    EXPECT_TRUE(by_nccl());
    policies.all_to_all = copies;
    EXPECT_THROW(by_nccl(), SimulationError);
}

/// Starts a collective on all ranks when it is called.
struct Start final : EventHandler, CollectiveListener {
    explicit Start(TestMachine& m) : machine(m) {}
    void on_event(std::uint64_t exchange) override {
        CollectiveOperation operation = operation_of(static_cast<std::uint32_t>(exchange));
        operation.sequence = sequence++;
        for (const std::uint32_t rank : machine.group)
            machine.engine->start(rank, rank, operation, 0, *this);
    }
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kEnds; }
    void on_collective_end(std::uint32_t) override {}
    TestMachine& machine;
    std::uint64_t sequence = 0;
};

/// Two exchanges with the same largest part are not alike.
TEST(UnevenExchange, AnotherIsNotTakenForIt) {
    UnevenExchange few = no_parts(4);
    few.at(0, 1) = 8 * kMiB;
    UnevenExchange many = equal_parts(4, 8 * kMiB);
    many.at(3, 0) = 0;
    // A process holds one simulation at a time.
    const std::array alone{run(few), run(many)};
    TestMachine machine(
        TestMachine::hgx(4).build(), TestMachine::params(), CollectivePolicy(ring_policy()));
    machine.engine->set_exchanges({few, many});
    LinkBytes counts(machine.fabric);
    machine.engine->allow_shortcuts(counts, Recall::kBesideKernels);
    Start start(machine);
    Scheduler& scheduler = machine.simulation.scheduler();
    std::uint64_t bytes = 0;
    for (const std::uint32_t exchange : {1U, 2U, 1U, 2U}) {
        scheduler.at(scheduler.last_event() + microseconds(1), start, exchange);
        machine.simulation.run();
        const CollectiveRecord& record = machine.engine->records().back();
        const Result& expected = alone.at(exchange - 1);
        EXPECT_NEAR(to_seconds(record.end - record.start) / to_seconds(expected.time()), 1.0, 0.01);
        EXPECT_EQ(bytes_on_links(machine.fabric) - bytes, expected.link_bytes);
        bytes = bytes_on_links(machine.fabric);
    }
}

}  // namespace
}  // namespace switchfold::uneven_exchange_test
