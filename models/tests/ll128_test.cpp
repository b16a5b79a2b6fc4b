// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::ll128_test {
namespace {

double seconds(const Topology& topology, const CollectiveParams& params, std::uint32_t channels) {
    TestMachine machine(topology, params, {Algorithm::kRing, Protocol::kLl128, channels, false});
    CollectiveOperation operation;
    operation.kind = CollectiveKind::kAllReduce;
    operation.bytes = Bytes(32ULL << 20U);
    const CollectiveRecord record = machine.run(operation);
    EXPECT_EQ(machine.ended, machine.group.size());
    return to_seconds(record.end - record.start);
}

CollectiveParams together(std::uint64_t GBps) {
    CollectiveParams params = TestMachine::params();
    params.ll128 = {};
    params.ll128.block_rate = gigabytes_per_second(28);
    params.ll128.gpu_rate = gigabytes_per_second(GBps);
    return params;
}

// Half as many blocks have twice the share each.
TEST(Ll128, BlocksOfAGpuShareItsRate) {
    const Topology topology = TestMachine::hgx(4).build();
    const double many = seconds(topology, together(96), 24);
    const double least = 1.5 * (32 << 20) / 96e9;  // each rank sends 2 (n - 1) / n of the data
    EXPECT_GT(many, least);
    EXPECT_LT(many, 1.2 * least);
    EXPECT_NEAR(seconds(topology, together(96), 12), many, 0.03 * many);
    // So few that their own rate binds.
    EXPECT_GT(seconds(topology, together(96), 2), 1.6 * many);
}

// The rate is a limit, not a promise: the links carry less.
TEST(Ll128, LinksBindBelowTheRateOfTheGpu) {
    const Topology topology = TestMachine::hgx(4).build();
    EXPECT_NEAR(
        seconds(topology, together(600), 24), seconds(topology, together(0), 24),
        0.05 * seconds(topology, together(0), 24));
}

// A ring of n ranks hands its proxy 2 (n - 1) steps for each loop, and the block at a machine's
// last GPU pays for each.
TEST(Ll128, ABlockPaysForEachStepThatItHandsToTheProxy) {
    const Topology topology = TestMachine::cluster(2, 2);
    CollectiveParams params = together(0);
    const double before = seconds(topology, params, 8);
    params.ll128.network_post = microseconds(50);
    const double paid = seconds(topology, params, 8) - before;
    // 8 channels of 4 MiB: two loops of six steps.
    EXPECT_GT(paid, 6 * 50e-6);
    EXPECT_LT(paid, 2 * 7 * 50e-6);
}

}  // namespace
}  // namespace switchfold::ll128_test
