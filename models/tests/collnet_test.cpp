// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace switchfold::collnet_test {
namespace {

/// Machines on rails, two per leaf switch. Leaves and spines reduce, so with three or more machines
/// a reduction tree has several levels.
Topology rails(std::uint32_t machines, std::uint32_t gpus, const ReductionUnitParams& unit) {
    ClusterTopology c;
    c.nodes = machines;
    c.node.value = TestMachine::hgx(gpus);
    LinkParams cable;
    cable.lane_bandwidth = gigabytes_per_second(50);
    cable.latency = nanoseconds(200);
    cable.buffer_per_lane = kibibytes(256);
    cable.format.max_payload = kibibytes(4);
    c.nics.count = gpus;
    c.nics.pcie_switches = gpus;
    c.nics.link = cable;
    c.nics.gpu_link = cable;
    RailNetwork network;
    network.machines_per_leaf = 2;
    network.spines = 2;
    network.link = cable;
    network.spine_link = cable;
    network.node.multicast = true;
    network.node.reduction = unit;
    c.network = network;
    return c.build();
}

ReductionUnitParams unit() {
    ReductionUnitParams params;
    params.line = Bytes(4096);
    params.buffer = mebibytes(1);
    params.adder_rate = gigabytes_per_second(200);
    params.timeout = microseconds(1000);
    return params;
}

const CollectivePolicy kCollnet{Algorithm::kCollnet, Protocol::kSimple, 0, false};

struct Result {
    CollectiveRecord record;
    double us = 0;
};
Result reduce(
    const Topology& topology, Bytes bytes, const CollectivePolicy& policy = kCollnet,
    const std::string& failed = {}, const CollectiveParams& params = TestMachine::params(),
    std::uint64_t seed = 1) {
    TestMachine machine(topology, params, policy, seed);
    if (!failed.empty())
        machine.fabric.fail_reductions(failed);
    CollectiveOperation operation;
    operation.bytes = bytes;
    Result run;
    run.record = machine.run(operation);
    run.us = to_microseconds(run.record.end - run.record.start);
    EXPECT_EQ(machine.ended, topology.gpus());
    EXPECT_TRUE(machine.engine->wrong_results().empty());
    EXPECT_EQ(machine.fabric.values().live(), 0U);
    return run;
}

RC_GTEST_PROP(CollnetProperty, SumsAreRightOnEveryClusterWithTablesOfAnySize, ()) {
    const std::uint32_t machines = *rc::gen::inRange(2U, 6U);
    const std::uint32_t gpus = *rc::gen::inRange(2U, 5U);
    ReductionUnitParams tables = unit();
    tables.entries = std::uint32_t{1} << *rc::gen::inRange(0U, 9U);
    tables.accumulation = *rc::gen::element(Accumulation::kFloat32, Accumulation::kElement);
    CollectiveOperation operation;
    operation.datatype =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    operation.bytes = Bytes(*rc::gen::inRange<std::uint64_t>(1, 300'000) * 4);
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{256} << *rc::gen::inRange(0U, 5U));
    params.in_switch_channels = *rc::gen::inRange(1U, 17U);
    TestMachine machine(rails(machines, gpus, tables), params, kCollnet, 1);
    const CollectiveRecord record = machine.run(operation);
    RC_ASSERT(machine.ended == machines * gpus);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(record.fallback == Fallback::kNone);
    RC_ASSERT(record.choice.algorithm == Algorithm::kCollnet);
}

/// Switches of the network that reduce for all GPUs make one domain of several machines.
RC_GTEST_PROP(FlatTree, MovesWhatEachKindMovesOnEveryCluster, ()) {
    const std::uint32_t machines = *rc::gen::inRange(2U, 5U);
    const std::uint32_t gpus = *rc::gen::inRange(2U, 5U);
    ReductionUnitParams tables = unit();
    tables.entries = std::uint32_t{1} << *rc::gen::inRange(4U, 9U);
    CollectiveOperation operation;
    operation.kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather);
    operation.bytes = Bytes(*rc::gen::inRange<std::uint64_t>(1, 300'000) * 4);
    CollectiveParams params = TestMachine::params();
    params.in_switch_channels = *rc::gen::inRange(1U, 17U);
    const CollectivePolicy flat{Algorithm::kInSwitch, Protocol::kAuto, 0, false};
    TestMachine machine(rails(machines, gpus, tables), params, flat, 1);
    const CollectiveRecord record = machine.run(operation);
    RC_ASSERT(machine.ended == machines * gpus);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(record.choice.algorithm == Algorithm::kInSwitch);
}

TEST(Collnet, AUnitThatFailsInTheNetworkOrInAMachineMakesItARing) {
    const Topology topology = rails(3, 2, unit());
    std::vector<std::string> reducing;
    for (const TopologyNode& node : topology.nodes)
        if (node.kind == NodeKind::kSwitch && topology.switches[node.switch_class].reduction)
            reducing.push_back(node.name);
    ASSERT_GE(reducing.size(), 6U);
    for (const std::string& name : {reducing.front(), reducing.back()}) {
        const Result run = reduce(topology, mebibytes(1), kCollnet, name);
        EXPECT_EQ(run.record.fallback, Fallback::kReductionTimeout) << name;
        EXPECT_EQ(run.record.choice.algorithm, Algorithm::kRing) << name;
    }
}

TEST(Collnet, ASwitchWithoutRoomForItsGroupsMakesItARing) {
    ReductionUnitParams small = unit();
    small.max_groups = 1;  // both spines serve both rails
    const Result run = reduce(rails(3, 2, small), mebibytes(1));
    EXPECT_EQ(run.record.fallback, Fallback::kRefused);
    EXPECT_EQ(run.record.choice.algorithm, Algorithm::kRing);
}

TEST(Collnet, WhatAMachineCannotDoHasAReason) {
    const Topology plain = TestMachine::cluster(2, 4);
    const Topology reducing = rails(2, 4, unit());
    EXPECT_EQ(why_not(Algorithm::kCollnet, reducing, {0, 1, 4, 5}), "");
    EXPECT_NE(
        why_not(Algorithm::kCollnet, plain, {0, 1, 4, 5}).find("in the network"),
        std::string::npos);
    EXPECT_NE(
        why_not(Algorithm::kCollnet, reducing, {0, 1, 2, 3}).find("are in one machine"),
        std::string::npos);
    EXPECT_NE(
        why_not(Algorithm::kCollnet, reducing, {0, 1, 2, 4})
            .find("the same number of the group's GPUs"),
        std::string::npos);
}

TEST(Collnet, AutoTakesItWhereTheNetworkReducesAndNowhereElse) {
    const auto choice = [](const Topology& topology, Bytes bytes) {
        CollectiveParams params = TestMachine::params();
        params.tuner = TunerGeneration::kHopper;
        TestMachine machine(topology, params, CollectivePolicy());
        return machine.engine->choose(machine.group, bytes).algorithm;
    };
    EXPECT_EQ(choice(rails(4, 4, unit()), mebibytes(1024)), Algorithm::kCollnet);
    EXPECT_NE(choice(rails(4, 4, unit()), kibibytes(1)), Algorithm::kCollnet);
    EXPECT_NE(choice(TestMachine::cluster(4, 4), mebibytes(1024)), Algorithm::kCollnet);
}

TEST(Collnet, EveryMachineSendsEverythingOnceAndHalvingConverges) {
    const Bytes bytes = mebibytes(64);
    const double nics = 4 * 50e3;  // bytes per microsecond
    const auto time = [&](std::uint32_t machines, std::uint64_t transfer_unit) {
        CollectiveParams params = TestMachine::params();
        params.transfer_unit = Bytes(transfer_unit);
        return reduce(rails(machines, 4, unit()), bytes, kCollnet, {}, params, 0).us;
    };
    const double two = time(2, 4096);
    EXPECT_GT(two, static_cast<double>(bytes.count()) / nics);
    EXPECT_NEAR(time(2, 2048) / two, 1.0, 0.03);
    // More machines and tree levels only add latency.
    EXPECT_NEAR(time(4, 4096) / two, 1.0, 0.05);
}

}  // namespace
}  // namespace switchfold::collnet_test
