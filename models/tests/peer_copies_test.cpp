// SPDX-License-Identifier: Apache-2.0
// All-reduces by copies between GPUs and through the host.
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/peer_copies/choice.h"
#include "models/collectives/peer_copies/program.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace switchfold::peer_copies_test {
namespace {

CollectivePolicy by(Algorithm algorithm, Bytes array = mebibytes(1)) {
    CollectivePolicy policy;
    policy.algorithm = algorithm;
    policy.copies.array = array;
    return policy;
}

CollectiveOperation all_reduce(Bytes bytes, Datatype type = Datatype::kFloat32) {
    CollectiveOperation operation;
    operation.bytes = bytes;
    operation.datatype = type;
    return operation;
}

/// 10 GB/s of payload each way, nothing else on the wire.
LinkParams plain_link() {
    LinkParams link;
    link.lane_bandwidth = gigabytes_per_second(10);
    link.format.header_flits = 0;
    link.format.request_flits = 0;
    return link;
}

/// Eight GPUs in two groups of four behind PCIe switches: one link between the groups.
Topology box(std::uint32_t gpus = 8, Bandwidth between = gigabytes_per_second(10)) {
    PcieTopology p;
    p.gpus = gpus;
    p.switches = 2;
    p.roots = 2;
    p.gpu_link = plain_link();
    p.switch_link = p.root_link = p.gpu_link;
    p.root_link->lane_bandwidth = between;
    return p.build();
}

CollectiveParams free_calls() {
    CollectiveParams params = TestMachine::params();
    params.peer_copies.call = Time();
    params.peer_copies.at_once = 8;
    return params;
}

RC_GTEST_PROP(PeerCopies, AddWhatEveryoneHas, ()) {
    const std::uint32_t gpus = *rc::gen::inRange(2U, 7U);
    CollectivePolicy policy =
        by(*rc::gen::element(Algorithm::kOwners, Algorithm::kTopologyTree, Algorithm::kHost),
           Bytes(1024UL * *rc::gen::inRange(1U, 64U)));
    policy.copies.owners = *rc::gen::inRange(0U, 9U);
    policy.copies.trees = *rc::gen::inRange(0U, 9U);
    policy.copies.memory = *rc::gen::element(HostMemory::kPinned, HostMemory::kPageable);
    policy.copies.host_threads = *rc::gen::inRange(1U, 5U);
    // The host adds in one machine's memory.
    const bool several = policy.algorithm != Algorithm::kHost && *rc::gen::arbitrary<bool>();
    const bool nvswitch = *rc::gen::arbitrary<bool>();
    const std::uint32_t machines = several && gpus % 2 == 0 ? 2 : 1;
    TestMachine machine(
        machines > 1 ? TestMachine::cluster(machines, gpus / machines)
        : nvswitch   ? TestMachine::hgx(gpus).build()
                     : box(gpus),
        TestMachine::params(), policy, *rc::gen::inRange<std::uint64_t>(1, 1000));
    const Datatype type = *rc::gen::element(Datatype::kFloat32, Datatype::kBfloat16);
    machine.run(all_reduce(size_of(type) * *rc::gen::inRange<std::uint64_t>(1, 100'000), type));
    RC_ASSERT(machine.ended == gpus);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.engine->blocked().empty());
    for (const auto& port : machine.ports)
        RC_ASSERT(port->occupied == 0U);  // copies use no SM, and sums are kernels
}

/// Payload bytes in the busiest direction of the link between the groups, in buffer sizes.
double across(Algorithm algorithm, Bytes bytes) {
    TestMachine machine(box(8, gigabytes_per_second(2)), free_calls(), by(algorithm));
    machine.run(all_reduce(bytes));
    std::uint64_t most = 0;
    for (const auto& link : machine.fabric.links())
        if (std::string(link->name()).find("host0_to_host1") != std::string::npos ||
            std::string(link->name()).find("host1_to_host0") != std::string::npos)
            most = std::max(most, link->statistics().payload_bytes);
    return static_cast<double>(most) / static_cast<double>(bytes.count());
}

TEST(PeerCopies, VolumesOverTheLinkBetweenTwoGroups) {
    // averaging.md, section 3: each way, owners move 2S to reduce and 2S back, a tree moves S.
    EXPECT_NEAR(across(Algorithm::kOwners, mebibytes(64)), 4, 0.01);
    EXPECT_NEAR(across(Algorithm::kTopologyTree, mebibytes(64)), 1, 0.01);
}

double seconds(const Topology& topology, const CollectivePolicy& policy, Bytes bytes) {
    TestMachine machine(topology, free_calls(), policy);
    const CollectiveRecord record = machine.run(all_reduce(bytes));
    return static_cast<double>((record.end - record.start).count()) * 1e-12;
}

TEST(PeerCopies, TwoGpusTakeTheirBytesOverTheLink) {
    // Each GPU adds half of the arrays: the link of 10 GB/s carries S in each direction.
    PcieTopology p;
    p.gpus = 2;
    p.gpu_link = plain_link();
    const Bytes bytes = mebibytes(256);
    EXPECT_NEAR(
        seconds(p.build(), by(Algorithm::kOwners), bytes),
        static_cast<double>(bytes.count()) / 10e9, 0.0006);
}

TEST(PeerCopies, ArraysMayBeCountedInsteadOfMeasured) {
    CollectivePolicy counted = by(Algorithm::kOwners);
    counted.copies.arrays = 3;  // of 7, 7 and 6 elements
    EXPECT_EQ(
        seconds(box(), counted, Bytes(80)),
        seconds(box(), by(Algorithm::kOwners, Bytes(28)), Bytes(80)));
    counted.copies.arrays = 19;  // of two, and so ten
    EXPECT_EQ(
        seconds(box(), counted, Bytes(80)),
        seconds(box(), by(Algorithm::kOwners, Bytes(8)), Bytes(80)));
}

TEST(PeerCopies, TreesBeatOwnersWhereALinkIsNarrow) {
    const double owners = seconds(box(), by(Algorithm::kOwners), mebibytes(256));
    const double trees = seconds(box(), by(Algorithm::kTopologyTree), mebibytes(256));
    EXPECT_GT(owners / trees, 1.5);  // at most 4 / 1.75: a GPU's own link carries 1.75S
    const double s_over_link = 256.0 * 1048576 / 10e9;
    EXPECT_GT(owners, 4 * s_over_link);
    EXPECT_GT(trees, 1.75 * s_over_link);
}

TEST(PeerCopies, HostThreadsCopyAlongWherePagesAreNotPinned) {
    CollectivePolicy pageable = by(Algorithm::kHost);
    pageable.copies.memory = HostMemory::kPageable;
    const Bytes bytes = mebibytes(64);
    const CollectiveParams params = free_calls();
    const double s = static_cast<double>(bytes.count());
    // One thread: two copies up, their sum, two copies down, one after the other.
    const double expected = 4 * s / static_cast<double>(params.peer_copies.pageable.count()) +
                            3 * s / static_cast<double>(params.peer_copies.host_add.count());
    TestMachine machine(box(2), params, pageable);
    const CollectiveRecord record = machine.run(all_reduce(bytes));
    EXPECT_NEAR(
        static_cast<double>((record.end - record.start).count()) * 1e-12, expected, expected / 100);
    EXPECT_LT(seconds(box(2), by(Algorithm::kHost), bytes), expected * 0.7);
}

TEST(PeerCopies, ProgramsWaitForWhatTheyNeed) {
    const CopyProgram program = exchange_by_trees({8, 8}, {{1, 1, 1}, {0, 0, 1}});
    ASSERT_EQ(program.steps.size(), 5U + 6U);  // a star, and a chain with two sums
    for (std::uint32_t i = 0; i < program.steps.size(); ++i)
        for (const std::uint32_t before : program.steps[i].after) {
            EXPECT_LT(before, i);
            EXPECT_EQ(program.steps[before].array, program.steps[i].array);
        }
    EXPECT_EQ(cut_into_arrays(10, 4), (std::vector<std::uint64_t>{4, 4, 2}));
}

TEST(PeerCopies, TakeTheNetworkBetweenMachines) {
    // Each GPU owns half of the arrays: S over each NIC of 50 GB/s, each way.
    const Bytes bytes = mebibytes(256);
    const Topology pair = TestMachine::cluster(2, 1);
    const double least = static_cast<double>(bytes.count()) / 50e9;
    const double two = seconds(pair, by(Algorithm::kOwners), bytes);
    EXPECT_GT(two, least);
    EXPECT_LT(two, 1.15 * least);
    // Of the trees of a cluster, the best crosses the network once for each array.
    const Topology cluster = TestMachine::cluster(2, 4);
    EXPECT_LT(
        seconds(cluster, by(Algorithm::kTopologyTree), bytes),
        seconds(cluster, by(Algorithm::kOwners), bytes));
}

TEST(PeerCopies, OnlyTheHostIsOfOneMachine) {
    const Topology cluster = TestMachine::cluster(2, 2);
    EXPECT_NE(
        why_no_peer_copies(Algorithm::kHost, cluster, {0, 1, 2, 3}).find("several machines"),
        std::string::npos);
    EXPECT_EQ(why_no_peer_copies(Algorithm::kHost, cluster, {0, 1}), "");
    EXPECT_EQ(why_no_peer_copies(Algorithm::kOwners, cluster, {0, 1, 2, 3}), "");
    EXPECT_EQ(why_no_peer_copies(Algorithm::kTopologyTree, cluster, {0, 1, 2, 3}), "");
    std::vector<std::uint32_t> many(17);
    for (std::uint32_t i = 0; i < many.size(); ++i)
        many[i] = i;
    EXPECT_NE(
        why_no_peer_copies(Algorithm::kTopologyTree, TestMachine::hgx(17).build(), many)
            .find("16 at most"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::peer_copies_test
