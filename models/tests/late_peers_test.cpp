// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::late_peers_test {
namespace {

CollectiveOperation operation_of(CollectiveKind kind, Time peers_late) {
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = mebibytes(8);
    operation.peers_late = peers_late;
    return operation;
}

CollectiveRecord
run(CollectiveKind kind, Algorithm algorithm, Time peers_late, bool together = false) {
    TestMachine machine(
        build_topology(TestMachine::hgx(8)), TestMachine::params(),
        {algorithm, Protocol::kAuto, 0, false});
    if (together)
        machine.engine->ignore_late_peers();
    return machine.run(operation_of(kind, peers_late));
}

struct Kind {
    CollectiveKind kind;
    Algorithm algorithm;
};
void PrintTo(const Kind& kind, std::ostream* out) {
    *out << to_string(kind.kind) << " " << enum_name(kind.algorithm);
}
class WaitingCollective : public ::testing::TestWithParam<Kind> {};

TEST_P(WaitingCollective, IsResidentForTheWaitAndTheTransfer) {
    const auto [kind, algorithm] = GetParam();
    const Time late = microseconds(3000);
    const CollectiveRecord alone = run(kind, algorithm, Time());
    const CollectiveRecord waited = run(kind, algorithm, late);
    EXPECT_EQ(waited.ready - waited.start, late);
    EXPECT_EQ(waited.end - waited.ready, alone.end - alone.ready);
}

TEST_P(WaitingCollective, WaitsForNobodyIfAllComeTogether) {
    const auto [kind, algorithm] = GetParam();
    const CollectiveRecord alone = run(kind, algorithm, Time());
    const CollectiveRecord together = run(kind, algorithm, microseconds(3000), true);
    EXPECT_EQ(together.end, alone.end);
    EXPECT_EQ(together.ready, alone.ready);
}

INSTANTIATE_TEST_SUITE_P(
    Collectives, WaitingCollective,
    ::testing::Values(
        Kind{CollectiveKind::kAllReduce, Algorithm::kRing},
        Kind{CollectiveKind::kAllReduce, Algorithm::kTree},
        Kind{CollectiveKind::kAllReduce, Algorithm::kInSwitch},
        Kind{CollectiveKind::kAllGather, Algorithm::kRing},
        Kind{CollectiveKind::kBroadcast, Algorithm::kRing}));

TEST(WaitingExchange, MovesTheOthersDataWhileOneRankIsLate) {
    const CollectiveRecord alone = run(CollectiveKind::kAllToAll, Algorithm::kRing, Time());
    const Time time = alone.end - alone.ready;
    const CollectiveRecord waited = run(CollectiveKind::kAllToAll, Algorithm::kRing, time * 10);
    EXPECT_GT(waited.stalled, waited.start);
    EXPECT_LT(waited.stalled - waited.start, time * 2);
    // One peer of seven is left.
    EXPECT_LT(waited.end - waited.ready, time);
    EXPECT_EQ(alone.stalled, Time());
}

TEST(WaitingExchange, BlocksLeaveWithThePeersThatTheyServe) {
    TestMachine machine(
        build_topology(TestMachine::hgx(8)), TestMachine::params(),
        {Algorithm::kRing, Protocol::kAuto, 16, false});
    const CollectiveRecord record =
        machine.run(operation_of(CollectiveKind::kAllToAll, microseconds(10'000)));
    EXPECT_EQ(record.choice.channels, 8 * channels_for_a_peer(record.choice));
    for (const auto& port : machine.ports) {
        ASSERT_FALSE(port->kept.empty());
        EXPECT_TRUE(std::is_sorted(port->kept.rbegin(), port->kept.rend()));
        EXPECT_EQ(port->kept.back(), channels_for_a_peer(record.choice));
    }
}

TEST(WaitingExchange, OfTwoRanksIsAllWait) {
    TestMachine machine(
        build_topology(TestMachine::hgx(2)), TestMachine::params(),
        {Algorithm::kRing, Protocol::kAuto, 0, false});
    const Time late = microseconds(500);
    const CollectiveRecord record = machine.run(operation_of(CollectiveKind::kAllToAll, late));
    EXPECT_EQ(record.ready - record.start, late);
    EXPECT_GT(record.end, record.ready);
    // The blocks that copy a rank's own share leave.
    ASSERT_EQ(machine.ports.front()->kept.size(), 1U);
    EXPECT_EQ(machine.ports.front()->kept.front(), channels_for_a_peer(record.choice));
}

TEST(WaitingExchange, AndAllReduceCarryTheRightNumbers) {
    TestMachine machine(
        build_topology(TestMachine::hgx(4)), TestMachine::params(),
        {Algorithm::kRing, Protocol::kAuto, 0, false}, 7);
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
        CollectiveOperation operation = operation_of(kind, microseconds(100));
        operation.bytes = kibibytes(64);
        operation.sequence = static_cast<std::uint64_t>(kind);
        machine.run(operation);
    }
    EXPECT_EQ(machine.engine->records().size(), 2U);
    EXPECT_TRUE(machine.engine->wrong_results().empty());
}

}  // namespace
}  // namespace switchfold::late_peers_test
