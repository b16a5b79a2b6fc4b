// SPDX-License-Identifier: Apache-2.0
#include "interconnect/path_finder.h"
#include "interconnect/tests/cube_mesh.h"
#include "interconnect/topology_analysis.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

namespace switchfold::families_test {
namespace {

/// Links of 1 GB/s per lane, so that a bandwidth in GB/s is a number of lanes.
LinkParams one() {
    LinkParams link;
    link.lane_bandwidth = gigabytes_per_second(1);
    return link;
}

std::uint64_t lanes(Bandwidth bandwidth) {
    return bandwidth.count() / gigabytes_per_second(1).count();
}

std::size_t count(const Topology& topology, NodeKind kind) {
    return static_cast<std::size_t>(
        std::count_if(topology.nodes.begin(), topology.nodes.end(), [&](const TopologyNode& n) {
            return n.kind == kind;
        }));
}

void expect_all_joined(const Topology& topology) {
    PathFinder finder(topology);
    for (std::uint32_t a = 0; a < topology.gpus(); ++a)
        for (std::uint32_t b = 0; b < topology.gpus(); ++b) {
            ASSERT_EQ(finder.shortest(a, b, 1).empty(), a == b) << a << " to " << b;
        }
}

NetworkTopology on_network(std::uint32_t gpus, NetworkParams network) {
    NetworkTopology t;
    t.gpus = gpus;
    t.network = std::move(network);
    return t;
}

FatTreeNetwork fat_tree(std::uint32_t levels, std::uint32_t ports, std::uint32_t oversubscription) {
    FatTreeNetwork n;
    n.levels = levels;
    n.ports = ports;
    n.oversubscription = oversubscription;
    n.link = n.switch_link = one();
    n.node.ports = ports;
    return n;
}

TEST(FullMesh, FormulasOfTheCompleteGraph) {
    for (const std::uint32_t n : {2U, 4U, 7U, 8U}) {
        FullMeshTopology t;
        t.gpus = n;
        t.link = t.host_link = one();
        const Topology built = t.build();
        EXPECT_EQ(built.edges.size(), n * (n - 1) / 2 + n);  // plus a host link per GPU
        EXPECT_EQ(lanes(bisection(built).bandwidth), n / 2 * (n - n / 2));
        EXPECT_TRUE(bisection(built).exact);
        EXPECT_EQ(diameter(built).hops, 1U);
        expect_all_joined(built);
    }
}

TEST(Switched, FormulasOfOneLayer) {
    SwitchedTopology t;
    t.gpus = 8;
    t.lanes_to_switch = {5, 4, 4, 5};
    t.link = one();
    const Topology built = t.build();
    EXPECT_EQ(lanes(bisection(built).bandwidth), 4U * 18);
    EXPECT_EQ(diameter(built).hops, 2U);
    EXPECT_EQ(diameter(built).latency, t.link.latency * 2 + t.node.latency);
    expect_all_joined(built);
}

TEST(Boards, Dgx2CrossesItsTrunks) {
    BoardsTopology t;
    t.gpus_per_board = 8;
    t.switches_per_board = 6;
    t.trunk_lanes = 8;
    t.link = t.trunk_link = one();
    t.node.ports = 18;
    const Topology built = t.build();
    EXPECT_EQ(built.gpus(), 16U);
    EXPECT_EQ(count(built, NodeKind::kSwitch), 12U);
    EXPECT_EQ(built.edges.size(), 16U * 6 + 6);
    EXPECT_EQ(lanes(bisection(built).bandwidth), 48U);  // 2.4 TB/s both ways at 25 GB/s a lane
    EXPECT_EQ(diameter(built).hops, 3U);
    PathFinder finder(built);
    EXPECT_EQ(finder.shortest(0, 1).size(), 6U);
    EXPECT_EQ(finder.shortest(0, 15).size(), 6U);
    EXPECT_EQ(finder.shortest(0, 15).front().hops.size(), 3U);
    ParamChecker checker;
    t.trunk_lanes = 11;
    t.check(checker);
    ASSERT_EQ(checker.found().size(), 1U);
    EXPECT_EQ(checker.found()[0].first, "/switch/ports");
}

TEST(Direct, CubeMeshBisectionIsTheLeastOverAllHalvings) {
    DirectTopology t = cube_mesh();
    t.link = t.host_link = one();
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t set = 0; set < 256; ++set) {
        if (std::popcount(set) != 4)
            continue;
        std::uint64_t across = 0;
        for (const DirectEdge& edge : t.edges)
            across += (set >> edge.a & 1U) != (set >> edge.b & 1U) ? edge.lanes : 0;
        least = std::min(least, across);
    }
    EXPECT_EQ(lanes(bisection(t.build()).bandwidth), least);
    EXPECT_EQ(diameter(t.build()).hops, 2U);  // through the host where there is no link
}

RC_GTEST_PROP(MaxFlow, OnDirectLinksIsWhatCrossesTheCut, ()) {
    DirectTopology t;
    t.gpus = *rc::gen::inRange<std::uint32_t>(3, 9);
    t.link = one();
    for (std::uint32_t a = 0; a < t.gpus; ++a)
        for (std::uint32_t b = a + 1; b < t.gpus; ++b)
            if (b == a + 1 || *rc::gen::arbitrary<bool>())
                t.edges.push_back({a, b, *rc::gen::inRange<std::uint32_t>(1, 5)});
    std::vector<bool> side(t.gpus);
    for (std::uint32_t gpu = 0; gpu < t.gpus; ++gpu)
        side[gpu] = gpu == 0 || (gpu > 1 && *rc::gen::arbitrary<bool>());
    std::uint64_t across = 0;
    for (const DirectEdge& edge : t.edges)
        across += side[edge.a] != side[edge.b] ? edge.lanes : 0;
    RC_ASSERT(lanes(cut_bandwidth(t.build(), side)) == across);
}

TEST(FatTree, KAryFormulas) {
    for (const std::uint32_t k : {4U, 8U}) {
        const std::uint32_t two = k * k / 2;
        const Topology flat = on_network(two, fat_tree(2, k, 1)).build();
        EXPECT_EQ(count(flat, NodeKind::kSwitch), k + k / 2);
        EXPECT_EQ(lanes(bisection(flat).bandwidth), two / 2);
        EXPECT_EQ(diameter(flat).hops, 4U);
        const std::uint32_t three = k * k * k / 4;
        const Topology deep = on_network(three, fat_tree(3, k, 1)).build();
        EXPECT_EQ(count(deep, NodeKind::kSwitch), 5 * k * k / 4);
        EXPECT_EQ(deep.edges.size(), 3U * three);
        EXPECT_EQ(lanes(bisection(deep).bandwidth), three / 2);
        EXPECT_EQ(diameter(deep).hops, 6U);
        PathFinder finder(deep);
        EXPECT_EQ(finder.shortest(0, three - 1, 1000).size(), k * k / 4);  // one per core switch
        ParamChecker checker;
        on_network(three, fat_tree(3, k, 1)).check(checker);
        EXPECT_TRUE(checker.found().empty());
        on_network(three + 1, fat_tree(3, k, 1)).check(checker);
        ASSERT_EQ(checker.found().size(), 1U);
        EXPECT_EQ(checker.found()[0].first, "/network");
    }
    expect_all_joined(on_network(16, fat_tree(3, 4, 1)).build());
}

TEST(FatTree, OversubscriptionDividesTheBisection) {
    // 8 leaves, each with 6 ends and 2 uplinks: the bisection is half of the 16 uplinks.
    const Topology t = on_network(48, fat_tree(2, 8, 3)).build();
    EXPECT_EQ(count(t, NodeKind::kSwitch), 8U + 2);
    EXPECT_EQ(lanes(bisection(t).bandwidth), 8U);
    ParamChecker checker;
    fat_tree(2, 8, 2).check(checker);
    ASSERT_EQ(checker.found().size(), 1U);
    EXPECT_EQ(checker.found()[0].first, "/oversubscription");
}

TEST(DragonflyPlus, FormulasOfGroups) {
    DragonflyPlusNetwork n;
    n.groups = 4;
    n.leaves = 2;
    n.spines = 3;
    n.ends_per_leaf = 4;
    n.global_links = 2;
    n.link = n.switch_link = n.global_link = one();
    const NetworkTopology params = on_network(32, n);
    const Topology t = params.build();
    EXPECT_EQ(count(t, NodeKind::kSwitch), 4U * 5);
    // Each pair of groups has 3 * 2 / 3 links: spines * global links / other groups.
    EXPECT_EQ(t.edges.size(), 32U + 4 * 6 + 6 * 2);
    EXPECT_EQ(lanes(bisection(t).bandwidth), 4U * 2);  // 2 groups against 2
    EXPECT_EQ(diameter(t).hops, 5U);
    expect_all_joined(t);
    // No spine has more links to other groups than `global_links`.
    std::vector<std::uint32_t> global(t.nodes.size(), 0);
    for (const TopologyEdge& edge : t.edges)
        if (edge.link_class == 2) {
            ++global[edge.a];
            ++global[edge.b];
        }
    EXPECT_EQ(*std::max_element(global.begin(), global.end()), 2U);
    n.global_links = 1;
    n.spines = 2;
    ParamChecker checker;
    n.check(checker);
    ASSERT_EQ(checker.found().size(), 1U);
    EXPECT_EQ(checker.found()[0].first, "/global_links");
}

TEST(Torus, FormulasAndRoutesByDimension) {
    for (const auto& dimensions :
         {std::vector<std::uint32_t>{4, 8}, {4, 4}, {2, 4}, {4, 4, 4}, {3, 5}}) {
        TorusTopology t;
        t.dimensions = dimensions;
        t.link = t.gpu_link = one();
        t.gpu_link.lane_bandwidth = gigabytes_per_second(100);
        const Topology built = t.build();
        std::uint32_t gpus = 1;
        std::uint32_t longest = 0;
        std::size_t reach = 2;
        for (const std::uint32_t d : dimensions) {
            gpus *= d;
            longest = std::max(longest, d);
            reach += d / 2;
        }
        EXPECT_EQ(built.gpus(), gpus);
        EXPECT_EQ(count(built, NodeKind::kSwitch), gpus);
        EXPECT_EQ(diameter(built).hops, reach);
        if (longest % 2 == 0) {
            EXPECT_EQ(lanes(bisection(built).bandwidth), 2 * gpus / longest);
        }
        PathFinder finder(built);
        EXPECT_EQ(finder.shortest(0, gpus - 1).size(), 1U);
        // Routes are in dimension order: the first hop between routers is in the first dimension.
        const std::uint32_t far = gpus / dimensions[0] + 1;
        const auto route = finder.shortest(0, far).front();
        const TopologyEdge& first = built.edges[route.hops[1] / 2];
        EXPECT_EQ(std::max(first.a, first.b) - std::min(first.a, first.b), gpus / dimensions[0]);
    }
    TorusTopology line;
    line.dimensions = {4};
    ParamChecker checker;
    line.check(checker);
    ASSERT_EQ(checker.found().size(), 1U);
    EXPECT_EQ(checker.found()[0].first, "/dimensions");
}

PcieTopology pcie() {
    PcieTopology t;
    t.gpus = 4;
    t.roots = 2;
    t.switches = 2;
    t.gpu_link = one();
    t.switch_link = t.root_link = one();
    return t;
}

TEST(Pcie, TreeOfSwitchesAndSockets) {
    const Topology t = pcie().build();
    EXPECT_EQ(count(t, NodeKind::kHost), 2U);
    EXPECT_EQ(count(t, NodeKind::kPcie), 2U);
    PathFinder finder(t);
    EXPECT_EQ(finder.shortest(0, 1).front().hops.size(), 2U);  // under the same switch
    EXPECT_EQ(finder.shortest(0, 3).front().hops.size(), 5U);  // across both sockets
    EXPECT_EQ(lanes(bisection(t).bandwidth), 1U);
    expect_all_joined(t);
}

TEST(Pcie, WithoutPeersTrafficTurnsInTheSendersMemory) {
    PcieTopology params = pcie();
    params.peer_to_peer = false;
    params.memory_link = one();
    const Topology t = params.build();
    PathFinder finder(t);
    for (const std::uint32_t to : {1U, 3U}) {
        const auto paths = finder.shortest(0, to);
        ASSERT_EQ(paths.size(), 1U);
        std::uint32_t at = 0;
        std::vector<std::string> names;
        for (const std::uint32_t hop : paths.front().hops) {
            const TopologyEdge& edge = t.edges[hop / 2];
            ASSERT_EQ(at, (hop & 1U) != 0 ? edge.b : edge.a);
            at = (hop & 1U) != 0 ? edge.a : edge.b;
            names.push_back(t.nodes[at].name);
        }
        EXPECT_EQ(at, to);
        EXPECT_EQ(names[2], "memory0");
        EXPECT_EQ(std::count(names.begin(), names.end(), "memory1"), 0);
    }
}

TEST(Pcie, BridgesComeFirstAndSayWhatTheyNeed) {
    PcieTopology params = pcie();
    params.bridges = {{0, 3, 4}};
    ParamChecker checker;
    params.check(checker);
    ASSERT_EQ(checker.found().size(), 1U);
    EXPECT_EQ(checker.found()[0].first, "/bridge_link");
    params.bridge_link = one();
    const Topology t = params.build();
    PathFinder finder(t);
    EXPECT_EQ(finder.shortest(0, 3).front().hops.size(), 1U);
    EXPECT_EQ(finder.shortest(1, 3).front().hops.size(), 5U);  // not through GPU 0
}

TEST(RingBound, IsWhatTheNarrowestSharedLinkLeaves) {
    // Two GPUs per socket: each direction of the socket link carries one ring hop.
    PcieTopology params = pcie();
    for (LinkParams* link : {&params.gpu_link, &*params.switch_link, &*params.root_link}) {
        link->format.header_flits = 0;
        link->format.write_ack_flits = 0;
    }
    const std::vector<std::vector<std::uint32_t>> in_order{{0, 1, 2, 3}};
    EXPECT_EQ(lanes(ring_bound(params.build(), in_order, 4096)), 1U);
    // In this order every hop crosses the socket link.
    const std::vector<std::vector<std::uint32_t>> crossing{{0, 2, 1, 3}};
    EXPECT_EQ(
        ring_bound(params.build(), crossing, 4096).count(), gigabytes_per_second(1).count() / 2);
}

TEST(InSwitchBound, FollowsWhatEntersAGpu) {
    SwitchedTopology t;
    t.gpus = 8;
    t.lanes_to_switch = {5, 4, 4, 5};
    t.link.lane_bandwidth = Bandwidth(26'562'500'000);
    t.link.efficiency_ppm = 871'000;
    EXPECT_EQ(in_switch_bound(t.build(), 4096).count(), 0U);
    t.node.multicast = true;
    t.node.reduction = ReductionUnitParams{};
    // A GPU receives for each 128 B line a store of 144 B and a fetch of 32 B. For the eighth of
    // the lines that it owns it also receives a sum of 144 B and an acknowledgement of 16 B.
    const double rate = 18 * 26.5625 * 0.871 * 128 / (144 + 32 + (144 + 16) / 8.0) * 2 * 7 / 8;
    EXPECT_NEAR(
        static_cast<double>(in_switch_bound(t.build(), 4096).count()) * 1e-9, rate, rate * 1e-6);
}

}  // namespace
}  // namespace switchfold::families_test
