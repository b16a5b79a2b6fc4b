// SPDX-License-Identifier: Apache-2.0
#include "interconnect/host_paths.h"

#include "interconnect/hop.h"
#include "interconnect/path_finder.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::host_paths_test {
namespace {

LinkParams wire(std::uint64_t gigabytes) {
    LinkParams link;
    link.lane_bandwidth = gigabytes_per_second(gigabytes);
    link.format.header_flits = 0;
    return link;
}

/// Two sockets with memory and 4 PCIe switches: two GPUs under each switch in a machine of 8.
PcieTree tree() {
    PcieTree t;
    t.roots = 2;
    t.switches = 4;
    t.gpu_link = wire(12);
    t.switch_link = wire(12);
    t.root_link = wire(10);
    t.memory_link = wire(40);
    return t;
}

SwitchedTopology hgx() {
    SwitchedTopology t;
    t.gpus = 8;
    t.lanes_to_switch = {2, 2};
    t.link = wire(25);
    return t;
}

/// Names of the nodes along a path, without its start.
std::string nodes_of(const Topology& topology, const std::vector<std::uint32_t>& path) {
    std::string names;
    for (const std::uint32_t hop : path)
        names += (names.empty() ? "" : " ") + topology.nodes[topology.end_of(hop)].name;
    return names;
}

TEST(HostPaths, EndInTheMemoryOfTheGpusOwnSocket) {
    SwitchedTopology machine = hgx();
    machine.host_pcie = tree();
    const Topology t = machine.build();
    const auto paths = host_paths(t);
    ASSERT_EQ(paths.size(), 8U);
    EXPECT_EQ(nodes_of(t, paths[0]), "pcie0 host0 memory0");
    EXPECT_EQ(nodes_of(t, paths[1]), "pcie0 host0 memory0");
    EXPECT_EQ(nodes_of(t, paths[7]), "pcie3 host1 memory1");
}

TEST(HostPaths, EndAtTheRootComplexWhereNoMemoryIsDescribed) {
    PcieTopology pcie;
    pcie.gpus = 2;
    pcie.gpu_link = wire(12);
    EXPECT_EQ(nodes_of(pcie.build(), host_paths(pcie.build())[1]), "host0");
    DirectTopology cube;
    cube.gpus = 2;
    cube.edges = {{0, 1, 1}};
    EXPECT_EQ(nodes_of(cube.build(), host_paths(cube.build())[1]), "host");
    EXPECT_TRUE(host_paths(hgx().build())[0].empty());
    EXPECT_FALSE(host_bound(hgx().build(), kibibytes(64)));
}

TEST(HostPaths, StayInTheirMachine) {
    ClusterTopology cluster;
    cluster.nodes = 2;
    SwitchedTopology machine = hgx();
    machine.host_pcie = tree();
    cluster.node.value = machine;
    cluster.nics.count = 4;
    cluster.nics.link = wire(25);
    cluster.network = SingleSwitchNetwork{};
    ParamChecker checker;
    cluster.check(checker);
    ASSERT_TRUE(checker.found().empty()) << checker.found()[0].second;
    const Topology t = cluster.build();
    const auto paths = host_paths(t);
    EXPECT_EQ(nodes_of(t, paths[15]), "node1_pcie3 node1_host1 node1_memory1");
    // NICs are attached to the same PCIe switches as the GPUs.
    EXPECT_EQ(nearest_nics(t)[15].size(), 1U);
}

TEST(HostPaths, LeaveTheGpusOwnWaysAsTheyAre) {
    SwitchedTopology with = hgx();
    with.host_pcie = tree();
    const Topology a = hgx().build();
    const Topology b = with.build();
    PathFinder bare(a);
    PathFinder beside(b);
    for (std::uint32_t to = 1; to < 8; ++to) {
        const auto one = bare.shortest(0, to);
        const auto other = beside.shortest(0, to);
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i)
            EXPECT_EQ(one[i].hops, other[i].hops);
    }
}

TEST(HostPaths, BoundIsWhatTheFullestLinkLeaves) {
    SwitchedTopology machine = hgx();
    machine.host_pcie = tree();
    auto bound = host_bound(machine.build(), kibibytes(64));
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->alone, gigabytes_per_second(12));
    EXPECT_EQ(bound->together, gigabytes_per_second(6));  // two GPUs under each switch
    machine.host_pcie->memory_link = wire(20);
    bound = host_bound(machine.build(), kibibytes(64));
    EXPECT_EQ(bound->together, gigabytes_per_second(5));  // four GPUs share each memory
    machine.host_pcie->gpu_link = wire(4);
    bound = host_bound(machine.build(), kibibytes(64));
    EXPECT_EQ(bound->alone, gigabytes_per_second(4));
    EXPECT_EQ(bound->together, gigabytes_per_second(4));
}

TEST(HostPaths, ACableThatIsDownIsNoWay) {
    SwitchedTopology machine = hgx();
    machine.host_pcie = tree();
    Topology t = machine.build();
    const std::uint32_t uplink = edge_of(host_paths(t)[0][1]);
    t.edges[uplink].down = true;
    EXPECT_TRUE(host_paths(t)[0].empty());
    EXPECT_FALSE(host_paths(t, true)[0].empty());
    EXPECT_FALSE(host_paths(t)[2].empty());
}

TEST(PcieTree, SaysWhatItNeeds) {
    PcieTree t;
    t.roots = 2;
    t.switches = 3;
    ParamChecker checker;
    t.check(checker);
    std::vector<std::string> pointers;
    for (const auto& [pointer, message] : checker.found())
        pointers.push_back(pointer);
    EXPECT_EQ(pointers, (std::vector<std::string>{"/switch_link", "/root_link", "/switches"}));
    SwitchedTopology machine = hgx();
    machine.host_pcie = tree();
    machine.host_pcie->node.ports = 2;
    ParamChecker ports;
    machine.check(ports);
    ASSERT_EQ(ports.found().size(), 1U);
    EXPECT_EQ(ports.found()[0].first, "/host_pcie/switch/ports");
}

TEST(PcieTree, MemoryBesidePeersIsNoDetour) {
    PcieTopology pcie;
    pcie.gpus = 2;
    pcie.gpu_link = wire(12);
    pcie.memory_link = wire(100);
    const Topology t = pcie.build();
    PathFinder finder(t);
    EXPECT_EQ(nodes_of(t, finder.shortest(0, 1).front().hops), "host0 gpu1");
    EXPECT_EQ(nodes_of(t, host_paths(t)[0]), "host0 memory0");
}

}  // namespace
}  // namespace switchfold::host_paths_test
