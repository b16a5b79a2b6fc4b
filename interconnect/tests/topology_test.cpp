// SPDX-License-Identifier: Apache-2.0
#include "interconnect/path_finder.h"
#include "interconnect/reduction_tree.h"
#include "interconnect/relay.h"
#include "interconnect/rings.h"
#include "interconnect/tests/cube_mesh.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace switchfold::topology_test {
namespace {

std::vector<std::uint32_t> all(std::uint32_t n) {
    std::vector<std::uint32_t> ranks(n);
    for (std::uint32_t i = 0; i < n; ++i)
        ranks[i] = i;
    return ranks;
}

SwitchedTopology hgx() {
    SwitchedTopology t;
    t.gpus = 8;
    t.lanes_to_switch = {5, 4, 4, 5};
    return t;
}

TEST(StripeOrder, SpreadsByWeight) {
    EXPECT_EQ(stripe_order({2, 1}), (std::vector<std::uint32_t>{0, 1, 0}));
    const auto order = stripe_order({5, 4, 4, 5});
    ASSERT_EQ(order.size(), 18U);
    for (std::uint32_t plane = 0; plane < 4; ++plane)
        EXPECT_EQ(std::count(order.begin(), order.end(), plane), plane == 0 || plane == 3 ? 5 : 4);
}

TEST(PathFinder, TakesEverySwitchPlane) {
    const Topology topology = hgx().build();
    PathFinder finder(topology);
    const auto paths = finder.shortest(2, 5);
    ASSERT_EQ(paths.size(), 4U);
    for (const Path& path : paths)
        EXPECT_EQ(path.hops.size(), 2U);
    EXPECT_EQ(paths[0].weight, 5U);
    EXPECT_EQ(paths[1].weight, 4U);
}

TEST(PathFinder, NeverLeadsThroughAGpu) {
    const Topology topology = cube_mesh().build();
    PathFinder finder(topology);
    EXPECT_EQ(finder.shortest(0, 3).front().hops.size(), 1U);  // joined directly
    const auto far = finder.shortest(0, 7);                    // not joined: through the host
    ASSERT_EQ(far.size(), 1U);
    EXPECT_EQ(far.front().hops.size(), 2U);
}

TEST(PathFinder, FindsNothingWhereThereIsNothing) {
    Topology topology;
    topology.nodes = {{NodeKind::kGpu, "a", 0}, {NodeKind::kGpu, "b", 0}};
    PathFinder finder(topology);
    EXPECT_TRUE(finder.shortest(0, 1).empty());
}

/// Every ring visits all GPUs, and no two rings use the same lane in the same direction.
void expect_disjoint(
    const std::vector<DirectEdge>& edges,
    std::uint32_t gpus,
    const std::vector<std::vector<std::uint32_t>>& rings) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> used;
    for (const auto& ring : rings) {
        EXPECT_EQ(std::set<std::uint32_t>(ring.begin(), ring.end()).size(), gpus);
        EXPECT_EQ(ring.size(), gpus);
        for (std::size_t i = 0; i < ring.size(); ++i)
            ++used[{ring[i], ring[(i + 1) % ring.size()]}];
    }
    for (const auto& [way, lanes] : used) {
        const auto edge = std::find_if(edges.begin(), edges.end(), [&](const DirectEdge& e) {
            return std::minmax(e.a, e.b) == std::minmax(way.first, way.second);
        });
        ASSERT_NE(edge, edges.end());
        EXPECT_LE(lanes, edge->lanes);
    }
}

TEST(FindRings, HybridCubeMeshUsesEveryLaneBothWays) {
    const DirectTopology mesh = cube_mesh();
    const auto rings = find_rings(mesh.build(), all(8));
    EXPECT_EQ(rings.size(), 6U);  // 6 lanes per GPU
    expect_disjoint(mesh.edges, 8, rings);
}

/// GPUs 0 to n - 1 of a DGX-1V. With five GPUs, GPU 4 is joined only to GPU 0. NCCL's search then
/// goes through GPU 0's memory (NVB), and the two lanes each way carry two rings.
TEST(FindRings, FirstGpusOfTheHybridCubeMeshHaveAsManyAsNcclFinds) {
    const std::map<std::uint32_t, std::size_t> stated{
        {2, 1}, {3, 2}, {4, 4}, {5, 2}, {6, 2}, {7, 4}, {8, 6}};
    for (const auto& [gpus, count] : stated)
        EXPECT_EQ(find_rings(cube_mesh().build(), all(gpus)).size(), count) << gpus;
    DirectTopology without = cube_mesh();
    without.relay = false;
    EXPECT_TRUE(find_rings(without.build(), all(5)).empty());
}

TEST(FindRings, RelaysTakeTheLanesOfTheGpuBetween) {
    const Topology mesh = cube_mesh().build();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> left;
    for (const TopologyEdge& edge : mesh.edges)
        left[{edge.a, edge.b}] = left[{edge.b, edge.a}] = edge.lanes;
    PathFinder finder(mesh);
    for (const auto& ring : find_rings(mesh, all(5)))
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const std::vector<Path> paths = finder.shortest(ring[i], ring[(i + 1) % ring.size()]);
            ASSERT_EQ(paths.size(), 1U);
            for (const std::uint32_t hop : paths[0].hops) {
                const TopologyEdge& edge = mesh.edges[hop / 2];
                std::uint32_t& lanes =
                    hop % 2 == 0 ? left[{edge.a, edge.b}] : left[{edge.b, edge.a}];
                ASSERT_GT(lanes, 0U) << edge.a << " " << edge.b;
                --lanes;
            }
        }
}

TEST(Relays, TheWidestThenTheFirst) {
    const Topology mesh = cube_mesh().build();
    const Relays relays(mesh);
    EXPECT_EQ(relays.between(4, 3)->gpu, 0U) << "two lanes each way; by GPU 7 one";
    EXPECT_EQ(relays.between(4, 1)->gpu, 0U) << "one lane by GPU 0 and by GPU 5";
    DirectTopology without = cube_mesh();
    without.relay = false;
    const Topology hosted = without.build();
    EXPECT_FALSE(Relays(hosted).between(4, 3).has_value());
    PathFinder host(hosted);
    EXPECT_EQ(host.shortest(4, 3).at(0).hops.size(), 2U) << "to the host and from it";
}

TEST(FindRings, FullMeshUsesEveryLane) {
    for (const auto& [gpus, lanes] : {std::pair{8U, 1U}, {4U, 6U}, {2U, 4U}, {5U, 2U}, {7U, 1U}}) {
        DirectTopology mesh;
        mesh.gpus = gpus;
        for (std::uint32_t a = 0; a < gpus; ++a)
            for (std::uint32_t b = a + 1; b < gpus; ++b)
                mesh.edges.push_back({a, b, lanes});
        const auto rings = find_rings(mesh.build(), all(gpus));
        EXPECT_EQ(rings.size(), (gpus - 1) * lanes);
        expect_disjoint(mesh.edges, gpus, rings);
    }
}

RC_GTEST_PROP(FindRings, AreDisjointOnAnyMesh, ()) {
    DirectTopology mesh;
    mesh.relay = false;
    mesh.gpus = *rc::gen::inRange<std::uint32_t>(3, 9);
    for (std::uint32_t a = 0; a < mesh.gpus; ++a)
        for (std::uint32_t b = a + 1; b < mesh.gpus; ++b)
            if (*rc::gen::arbitrary<bool>())
                mesh.edges.push_back({a, b, *rc::gen::inRange<std::uint32_t>(1, 4)});
    RC_PRE(!mesh.edges.empty());  // without edges the host joins the GPUs in any order
    expect_disjoint(mesh.edges, mesh.gpus, find_rings(mesh.build(), all(mesh.gpus)));
}

TEST(FindRings, BehindSwitchesOneOrderIsAsGoodAsAny) {
    EXPECT_EQ(
        find_rings(hgx().build(), {1, 4, 6}), (std::vector<std::vector<std::uint32_t>>{{1, 4, 6}}));
}

TEST(WhyNoReduction, NamesTheReason) {
    SwitchedTopology t = hgx();
    EXPECT_NE(why_no_reduction(t.build(), all(8)).find("no reduction unit"), std::string::npos);
    t.node.reduction = ReductionUnitParams{};
    EXPECT_NE(why_no_reduction(t.build(), all(8)).find("no multicast"), std::string::npos);
    t.node.multicast = true;
    EXPECT_EQ(why_no_reduction(t.build(), all(8)), "");
    t.node.reduction->max_members = 4;
    EXPECT_NE(why_no_reduction(t.build(), all(8)).find("4 members"), std::string::npos);
    EXPECT_NE(why_no_reduction(cube_mesh().build(), all(8)).find("no switch"), std::string::npos);
}

TEST(DirectTopology, RefusesWrongEdges) {
    DirectTopology t = cube_mesh();
    t.edges.push_back({3, 3, 1});
    t.edges.push_back({1, 0, 1});
    t.edges.push_back({0, 9, 1});
    ParamChecker checker;
    t.check(checker);
    ASSERT_EQ(checker.found().size(), 3U);
    EXPECT_EQ(checker.found()[0].first, "/edges/16");
    EXPECT_EQ(checker.found()[2].first, "/edges/18/b");
}

}  // namespace
}  // namespace switchfold::topology_test
