// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/policies.h"

#include "core/error.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace switchfold::policies_test {
namespace {

using Found = std::vector<std::pair<std::string, std::string>>;

/// Of policies or of parameters.
template <typename Checked>
Found problems(const Checked& checked) {
    ParamChecker checker;
    checked.check(checker);
    return checker.found();
}

CollectiveRecord
run(CollectiveKind kind, const CollectivePolicies& policies, Datatype datatype = Datatype::kFloat32,
    std::uint64_t seed = 0, Bytes bytes = kibibytes(256)) {
    TestMachine machine(build_topology(TestMachine::hgx(4)), TestMachine::params(), policies, seed);
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = bytes;
    operation.datatype = datatype;
    const CollectiveRecord record = machine.run(operation);
    EXPECT_TRUE(machine.engine->wrong_results().empty());
    return record;
}

TEST(CollectivePolicies, AKindThatIsNotNamedFollowsAllReduces) {
    CollectivePolicies policies(ring_policy());
    policies.all_gather = CollectivePolicy{Algorithm::kAuto, Protocol::kSimple, 3, false};
    EXPECT_EQ(policies.of(CollectiveKind::kBroadcast).algorithm, Algorithm::kRing);
    EXPECT_EQ(policies.of(CollectiveKind::kAllGather).channels, 3U);
    EXPECT_FALSE(policies.named(CollectiveKind::kReduce));
}

TEST(CollectivePolicies, EachKindRunsAsItsOwnSays) {
    CollectivePolicies policies(ring_policy());
    policies.all_gather = CollectivePolicy{Algorithm::kInSwitch, Protocol::kAuto, 0, false};
    policies.reduce_scatter = CollectivePolicy{Algorithm::kRing, Protocol::kLl128, 2, false};
    EXPECT_EQ(run(CollectiveKind::kAllReduce, policies).choice.algorithm, Algorithm::kRing);
    EXPECT_EQ(run(CollectiveKind::kAllGather, policies).choice.algorithm, Algorithm::kInSwitch);
    const CollectiveConfig halves = run(CollectiveKind::kReduceScatter, policies).choice;
    EXPECT_EQ(halves.algorithm, Algorithm::kRing);
    EXPECT_EQ(halves.protocol, Protocol::kLl128);
    EXPECT_EQ(halves.channels, 2U);
}

TEST(CollectivePolicies, WhatAKindDoesNotKnowIsRefusedWithWhatItDoes) {
    CollectivePolicies policies;
    policies.all_to_all = CollectivePolicy{Algorithm::kInSwitch, Protocol::kLl128, 0, false};
    policies.all_gather = CollectivePolicy{Algorithm::kTree, Protocol::kAuto, 0, true};
    const Found found = problems(policies);
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].first, "/all_gather/algorithm");
    EXPECT_EQ(
        found[0].second,
        "is tree, which all_gather does not support; expected auto or ring or in_switch");
    EXPECT_EQ(found[1].first, "/all_gather/registered");
    EXPECT_EQ(found[2].first, "/all_to_all/algorithm");
    EXPECT_EQ(found[3].first, "/all_to_all/protocol");
}

TEST(CollectivePolicies, SwitchesThatCannotAreRefusedOnlyWhereTheyWereNamed) {
    CollectivePolicies named(ring_policy());
    named.reduce_scatter = CollectivePolicy{Algorithm::kInSwitch, Protocol::kAuto, 0, false};
    EXPECT_THROW(run(CollectiveKind::kReduceScatter, named, Datatype::kInt8), SimulationError);
    const CollectivePolicies followed(
        CollectivePolicy{Algorithm::kInSwitch, Protocol::kAuto, 0, false});
    EXPECT_EQ(
        run(CollectiveKind::kReduceScatter, followed, Datatype::kInt8).choice.algorithm,
        Algorithm::kRing);
}

struct TrafficOfNobody final : TrafficCounts {
    [[nodiscard]] std::vector<std::uint64_t> simulated() const override { return {}; }
};

class EveryCollective : public ::testing::TestWithParam<CollectiveKind> {};

TEST_P(EveryCollective, CarriesTheRightNumbers) {
    const CollectiveRecord record = run(GetParam(), ring_policy(), Datatype::kFloat32, 5);
    EXPECT_GT(record.end, record.start);
}

/// Sizes that do not divide evenly: shares are whole elements, and the remainder stays in place.
TEST_P(EveryCollective, CarriesTheRightNumbersOfAnySize) {
    for (const std::uint64_t bytes : {2U, 6U, 8U, 100U, 1002U, 4098U})
        run(GetParam(), ring_policy(), Datatype::kFloat16, 5, Bytes(bytes));
}

/// A single rank has no peer to exchange data with. It ends at once, also when long collectives may
/// leave out turns.
TEST_P(EveryCollective, EndsOfARankAlone) {
    TestMachine machine(
        build_topology(TestMachine::hgx(4)), TestMachine::params(), ring_policy(), 0, {2});
    TrafficOfNobody counts;
    machine.engine->allow_shortcuts(counts, Recall::kBesideKernels);
    CollectiveOperation operation;
    operation.kind = GetParam();
    operation.bytes = kibibytes(256);
    machine.run(operation);
    EXPECT_EQ(machine.ended, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryCollective, ::testing::ValuesIn(kCollectiveKinds),
    [](const auto& param) { return std::string(to_string(param.param)); });

TEST(CollectiveParams, NoElementLiesInTwoPieces) {
    CollectiveParams params;
    EXPECT_TRUE(problems(params).empty());
    params.transfer_unit = Bytes(2506);
    const Found found = problems(params);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].first, "/transfer_unit");
    EXPECT_EQ(found[0].second, "is 2506 B; expected a multiple of 16 B");
}

TEST(CollectiveParams, OnlySimpleHasSlices) {
    CollectiveParams params;
    params.simple.slices_hop = params.ll.slices_hop = params.ll128.slices_hop = nanoseconds(1);
    const Found found = problems(params);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].first, "/ll/slices_hop");
    EXPECT_EQ(found[1].first, "/ll128/slices_hop");
    EXPECT_EQ(found[1].second, "is 1 ns; expected at most 0 ps (LL and LL128 have no slices)");
}

TEST(CollectiveParams, ThreadsTakeNoMoreThanTheWhole) {
    CollectiveParams params;
    params.ll.threads_start = params.launch_latency + nanoseconds(1);
    params.ll.threads_hop = params.ll.hop_overhead + nanoseconds(1);
    params.simple.threads_hop = nanoseconds(1);
    const Found found = problems(params);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].first, "/ll/threads_start");
    EXPECT_EQ(found[1].first, "/ll/threads_hop");
    EXPECT_EQ(found[2].first, "/simple/threads_hop");
    EXPECT_EQ(
        found[2].second,
        "is 1 ns; expected at most 0 ps (only blocks of LL run with fewer threads)");
}

TEST(CollectiveParams, OnlyLlStoresSingleBytes) {
    CollectiveParams params;
    params.ll.byte_stores = gigabytes_per_second(8);
    params.simple.byte_stores = gigabytes_per_second(8);
    params.ll.hidden_stores = nanoseconds(300);
    params.ll128.hidden_stores = nanoseconds(300);
    const Found found = problems(params);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].first, "/ll128/hidden_stores");
    EXPECT_EQ(found[1].first, "/simple/byte_stores");
}

TEST(CollectiveParams, AnSmLoadsAndStoresMoreThanACopyTakes) {
    CollectiveParams params;
    params.ll.load_store_rate = gigabytes_per_second(100);
    params.simple.block_rate = gigabytes_per_second(50);
    params.simple.load_store_rate = gigabytes_per_second(100);
    const Found found = problems(params);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].first, "/ll/load_store_rate");
    EXPECT_EQ(found[1].second, "is 100 GB/s; expected more than twice block_rate, 50 GB/s");
    params.ll.load_store_rate = Bandwidth();
    params.simple.load_store_rate = gigabytes_per_second(101);
    EXPECT_TRUE(problems(params).empty());
}

}  // namespace
}  // namespace switchfold::policies_test
