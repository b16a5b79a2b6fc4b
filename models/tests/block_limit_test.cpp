// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/block_limit.h"

#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace switchfold::block_limit_test {
namespace {

TEST(BlockLimit, NoneChangesNothing) {
    const CollectiveParams params = limited(TestMachine::params(), 0);
    EXPECT_EQ(params.channels, TestMachine::params().channels);
    EXPECT_EQ(params.in_switch_channels, TestMachine::params().in_switch_channels);
    CollectivePolicies policies(ring_policy());
    policies.all_reduce->channels = 30;
    EXPECT_EQ(limited(policies, 0).all_reduce->channels, 30U);
    EXPECT_EQ(limited(policies, 4).all_reduce->channels, 4U);
    EXPECT_EQ(limited(policies, 64).all_reduce->channels, 30U);
}

TEST(BlockLimit, AnExchangesPeersShareTheBlocksThatAreLeft) {
    CollectiveConfig choice;
    choice.of<NcclConfig>().for_a_peer = 2;
    choice.channels = 16;
    choice.of<NcclConfig>().peers_of_a_block = 1;
    const CollectiveConfig less = limited(choice, 8, 3);
    EXPECT_EQ(less.channels, 3U);
    EXPECT_EQ(
        less.of<NcclConfig>().peers_of_a_block,
        6U);  // 2 channels for each of 8 peers, over 3 blocks
    EXPECT_EQ(limited(choice, 8, 16).of<NcclConfig>().peers_of_a_block, 1U);
}

/// Checks the most thread blocks that any port held, for any kind, size and policy.
RC_GTEST_PROP(BlockLimit, NoKernelHoldsMoreThanItsLimit, ()) {
    const auto kind =
        *rc::gen::elementOf(std::vector(std::begin(kCollectiveKinds), std::end(kCollectiveKinds)));
    const auto most = *rc::gen::inRange(1U, 33U);
    CollectivePolicy policy;
    policy.channels = *rc::gen::element(0U, 1U, 7U, 32U, 64U);
    policy.protocol = *rc::gen::element(Protocol::kAuto, Protocol::kLl, Protocol::kSimple);
    policy.algorithm = *rc::gen::element(Algorithm::kAuto, Algorithm::kRing, Algorithm::kInSwitch);
    policy.registered = policy.algorithm == Algorithm::kInSwitch && *rc::gen::arbitrary<bool>();
    CollectivePolicies policies(policy);
    policies.most_blocks = most;
    if (*rc::gen::arbitrary<bool>())
        policies.all_gather.emplace().kernels =
            *rc::gen::element(Kernels::kSymmetric, Kernels::kCopyEngine);
    if (*rc::gen::arbitrary<bool>())
        policies.reduce_scatter.emplace().kernels = Kernels::kSymmetric;
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = Bytes(*rc::gen::inRange<std::uint64_t>(1, 2000) * 4096);
    operation.datatype = Datatype::kBfloat16;
    operation.thread_blocks = *rc::gen::element(0U, 5U, 40U);  // from a trace
    TestMachine machine(build_topology(TestMachine::hgx(4)), TestMachine::params(), policies, 1);
    const CollectiveRecord record = machine.run(operation);
    RC_ASSERT(machine.ended == 4U);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(record.choice.channels <= most);
    for (const auto& port : machine.ports)
        RC_ASSERT(port->most_blocks <= most);
}

CollectiveRecord run(const CollectiveParams& params, std::uint32_t most) {
    CollectivePolicies policies(ring_policy());
    policies.most_blocks = most;
    TestMachine machine(build_topology(TestMachine::hgx(8)), params, policies);
    CollectiveOperation operation;
    operation.bytes = mebibytes(4);
    return machine.run(operation);
}

/// NCCL takes maxCTAs when it creates a communicator, so its cost estimates include the limit.
TEST(BlockLimit, ALimitIsAMachineWithFewerChannels) {
    CollectiveParams few = TestMachine::params();
    few.channels = 4;
    const CollectiveRecord limited = run(TestMachine::params(), 4);
    const CollectiveRecord small = run(few, 0);
    EXPECT_EQ(limited.end, small.end);
    EXPECT_EQ(limited.choice.protocol, small.choice.protocol);
    EXPECT_LT(run(TestMachine::params(), 0).end, limited.end);
}

}  // namespace
}  // namespace switchfold::block_limit_test
