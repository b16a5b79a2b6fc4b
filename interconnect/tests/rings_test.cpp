// SPDX-License-Identifier: Apache-2.0
#include "interconnect/rings.h"

#include "interconnect/path_finder.h"
#include "interconnect/tests/cube_mesh.h"
#include "interconnect/topologies/switched.h"
#include "interconnect/topologies/torus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <set>

namespace switchfold::rings_test {
namespace {

std::vector<std::uint32_t> all(std::uint32_t n) {
    std::vector<std::uint32_t> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
}

/// Every ring visits all GPUs, and no two rings use the same lane in the same direction.
void expect_disjoint(
    const std::vector<DirectEdge>& edges, std::uint32_t gpus,
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
    const std::map<std::uint32_t, std::size_t> stated{{2, 1}, {3, 2}, {4, 4}, {5, 2},
                                                      {6, 2}, {7, 4}, {8, 6}};
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
    SwitchedTopology domain;
    domain.gpus = 8;
    domain.lanes_to_switch = {5, 4, 4, 5};
    EXPECT_EQ(
        find_rings(domain.build(), {1, 4, 6}),
        (std::vector<std::vector<std::uint32_t>>{{1, 4, 6}}));
}

/// `width` x `height` GPUs, each joined to its four neighbours; `wraps`: round the edges as well.
DirectTopology grid(std::uint32_t width, std::uint32_t height, bool wraps) {
    DirectTopology mesh;
    mesh.relay = false;
    mesh.gpus = width * height;
    for (std::uint32_t y = 0; y < height; ++y)
        for (std::uint32_t x = 0; x < width; ++x) {
            const std::uint32_t here = y * width + x;
            if (x + 1 < width || wraps)
                mesh.edges.push_back({here, y * width + (x + 1) % width, 1});
            if (y + 1 < height || wraps)
                mesh.edges.push_back({here, (y + 1) % height * width + x, 1});
        }
    return mesh;
}

TEST(FindRings, GridsAndToriOfManyGpus) {
    for (const std::uint32_t side : {6U, 8U, 16U, 32U}) {
        const DirectTopology flat = grid(side, side, false);
        const auto rings = find_rings(flat.build(), all(flat.gpus));
        EXPECT_EQ(rings.size(), 2U) << side << ": a corner has two lanes";
        expect_disjoint(flat.edges, flat.gpus, rings);
        const DirectTopology torus = grid(side, side, true);
        const auto round = find_rings(torus.build(), all(torus.gpus));
        EXPECT_GE(round.size(), side > 8 ? 2U : 4U) << side;
        expect_disjoint(torus.edges, torus.gpus, round);
    }
}

/// Coloured as a chess board, a grid of odd sides has one black GPU more than white ones. To prove
/// by trying that it has no ring would take years.
TEST(FindRings, EndsWhereThereIsNone) {
    for (const std::uint32_t side : {5U, 7U, 9U, 31U}) {
        const DirectTopology flat = grid(side, side, false);
        EXPECT_TRUE(find_rings(flat.build(), all(flat.gpus)).empty()) << side;
    }
}

TEST(FindRings, NearlyEveryLaneOfALargeFullMesh) {
    for (const std::uint32_t gpus : {12U, 16U, 32U, 100U}) {
        DirectTopology mesh;
        mesh.gpus = gpus;
        for (std::uint32_t a = 0; a < gpus; ++a)
            for (std::uint32_t b = a + 1; b < gpus; ++b)
                mesh.edges.push_back({a, b, 1});
        const auto rings = find_rings(mesh.build(), all(gpus));
        EXPECT_GE(rings.size(), gpus - 2);
        expect_disjoint(mesh.edges, gpus, rings);
    }
}

RC_GTEST_PROP(FindRings, EndSoonOnAnyGraph, ()) {
    DirectTopology mesh;
    mesh.gpus = *rc::gen::inRange<std::uint32_t>(3, 200);
    mesh.relay = false;
    const auto links = *rc::gen::inRange<std::uint32_t>(1, 8 * mesh.gpus);
    std::set<std::pair<std::uint32_t, std::uint32_t>> joined;
    // A ring in steps of 7 is hidden among them, unless 7 divides the number of GPUs.
    for (std::uint32_t i = 0; i < mesh.gpus + links; ++i) {
        const bool hidden = i < mesh.gpus;
        const std::uint32_t a = hidden ? i * 7 % mesh.gpus : *rc::gen::inRange(0U, mesh.gpus);
        const std::uint32_t b = hidden ? (a + 7) % mesh.gpus : *rc::gen::inRange(0U, mesh.gpus);
        if (a != b && joined.insert(std::minmax(a, b)).second)
            mesh.edges.push_back({a, b, *rc::gen::inRange<std::uint32_t>(1, 4)});
    }
    RC_PRE(!mesh.edges.empty());
    const auto start = std::chrono::steady_clock::now();
    expect_disjoint(mesh.edges, mesh.gpus, find_rings(mesh.build(), all(mesh.gpus)));
    RC_ASSERT(std::chrono::steady_clock::now() - start < std::chrono::seconds(100));
}

/// A torus of routers has no direct links between GPUs: nothing to search, and no table of pairs.
TEST(FindRings, BehindRoutersOfManyGpus) {
    TorusTopology torus;
    torus.dimensions = {256, 256};
    const std::vector<std::uint32_t> ranks = all(65'536);
    EXPECT_EQ(find_rings(torus.build(), ranks), (std::vector<std::vector<std::uint32_t>>{ranks}));
}

}  // namespace
}  // namespace switchfold::rings_test
