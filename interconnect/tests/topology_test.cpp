// SPDX-License-Identifier: Apache-2.0
#include "interconnect/path_finder.h"
#include "interconnect/reduction_tree.h"
#include "interconnect/relay.h"
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
