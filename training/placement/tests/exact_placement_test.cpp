// SPDX-License-Identifier: Apache-2.0
#include "training/placement/exact_placement.h"

#include "training/placement/best_placement.h"
#include "training/placement/down_sets.h"
#include "training/placement/list_placement.h"
#include "training/placement/tests/random_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

namespace switchfold::exact_placement_test {
namespace {

/// Whether the parts can be ordered such that none reads from a later one.
bool one_way(const PlacementGraph& graph, const NodeParts& parts) {
    std::vector<std::vector<bool>> before(graph.parts, std::vector<bool>(graph.parts, false));
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
        for (const std::uint32_t input : graph.nodes[i].inputs)
            if (parts[input] != parts[i])
                before[parts[input]][parts[i]] = true;
    for (std::uint32_t k = 0; k < graph.parts; ++k)
        for (std::uint32_t a = 0; a < graph.parts; ++a)
            for (std::uint32_t b = 0; b < graph.parts; ++b)
                if (before[a][k] && before[k][b])
                    before[a][b] = true;
    for (std::uint32_t a = 0; a < graph.parts; ++a)
        if (before[a][a])
            return false;
    return true;
}

/// Calls `visit` for every assignment of nodes to parts.
void for_each_division(
    const PlacementGraph& graph, const std::function<void(const NodeParts&)>& visit) {
    NodeParts parts(graph.nodes.size(), 0);
    for (;;) {
        visit(parts);
        std::size_t i = 0;
        while (i < parts.size() && ++parts[i] == graph.parts)
            parts[i++] = 0;
        if (i == parts.size())
            return;
    }
}

double by_brute_force(const PlacementGraph& graph) {
    double best = std::numeric_limits<double>::infinity();
    for_each_division(graph, [&](const NodeParts& parts) {
        if (one_way(graph, parts))
            best = std::min(best, busiest(graph, parts));
    });
    return best;
}

RC_GTEST_PROP(ExactPlacementProperty, FindsWhatBruteForceFinds, ()) {
    PlacementGraph graph = test_data::random_placement_graph(7, 3);
    if (graph.gpus == graph.parts && *rc::gen::arbitrary<bool>())
        graph.memory = *rc::gen::inRange(20, 120);
    const double least = by_brute_force(graph);
    const auto found = exact_placement(graph);
    RC_ASSERT(found.has_value() == (least < std::numeric_limits<double>::infinity()));
    if (!found)
        return;
    RC_ASSERT(found->proven());
    RC_ASSERT(one_way(graph, found->parts));
    RC_ASSERT(busiest(graph, found->parts) == found->seconds);
    RC_ASSERT(found->seconds == least);
}

RC_GTEST_PROP(ExactPlacementProperty, FourPartsToo, ()) {
    PlacementGraph graph = test_data::random_placement_graph(6, 4);
    graph.parts = graph.gpus = 4;
    graph.bandwidth = 1;
    const auto found = exact_placement(graph);
    RC_ASSERT((found && found->seconds == by_brute_force(graph)));
}

RC_GTEST_PROP(ExactPlacementProperty, NoDivisionBeatsTheBounds, ()) {
    const PlacementGraph graph = test_data::random_placement_graph(6, 3);
    const double bound = step_bound(graph);
    for_each_division(graph, [&](const NodeParts& parts) {
        const FoundPlacement cut = judged_placement(graph, parts);
        RC_ASSERT(cut.seconds >= bound * (1 - 1e-12));
    });
}

RC_GTEST_PROP(PlacementMethods, BestIsNoWorseThanTheOthers, ()) {
    const PlacementGraph graph = test_data::random_placement_graph(12, 4);
    const auto best = find_placement(graph, PlacementMethod::kBest);
    const auto exact = find_placement(graph, PlacementMethod::kExact);
    const auto list = find_placement(graph, PlacementMethod::kList);
    RC_ASSERT(best && exact && list);
    RC_ASSERT(best->seconds <= std::min(exact->seconds, list->seconds));
    RC_ASSERT(exact->busiest <= list->busiest || !one_way(graph, list->parts));
    RC_ASSERT(best->seconds >= best->step_bound * (1 - 1e-12));
    RC_ASSERT(*std::max_element(list->parts.begin(), list->parts.end()) < graph.parts);
}

PlacementNode node(double forward, double bytes, std::vector<std::uint32_t> inputs) {
    PlacementNode made;
    made.forward = forward;
    made.output_bytes = bytes;
    made.inputs = std::move(inputs);
    return made;
}

TEST(ExactPlacement, BranchesGoBesideEachOther) {
    // A source, two branches of two layers with 10 s of work each, and a node that joins them.
    PlacementGraph graph;
    graph.parts = graph.gpus = 2;
    graph.bandwidth = 100;
    graph.nodes = {node(1, 10, {}),  node(5, 10, {0}), node(5, 10, {1}),
                   node(5, 10, {0}), node(5, 10, {3}), node(1, 1, {2, 4})};
    const auto found = exact_placement(graph);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->seconds, 11);
    EXPECT_EQ(found->parts[1], found->parts[2]);
    EXPECT_EQ(found->parts[3], found->parts[4]);
    EXPECT_NE(found->parts[1], found->parts[3]);
}

TEST(ExactPlacement, DearMessagesKeepLayersTogether) {
    PlacementGraph graph;
    graph.parts = graph.gpus = 2;
    graph.bandwidth = 1;
    graph.nodes = {node(5, 100, {}), node(5, 1, {0})};
    const auto found = exact_placement(graph);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->seconds, 10);
    EXPECT_EQ(found->parts, (NodeParts{0, 0}));
}

TEST(ExactPlacement, RefusesWhatIsTooLarge) {
    PlacementGraph graph;
    graph.parts = graph.gpus = 2;
    for (std::uint32_t i = 0; i < 65; ++i)
        graph.nodes.push_back(
            node(1, 1, i == 0 ? std::vector<std::uint32_t>{} : std::vector{i - 1}));
    EXPECT_EQ(
        why_no_exact_placement(graph), "has 65 layers, more than the 64 that are divided exactly");
    graph.nodes.pop_back();
    EXPECT_EQ(why_no_exact_placement(graph), "");
    graph.parts = graph.gpus = 9;
    EXPECT_EQ(
        why_no_exact_placement(graph), "is for 9 parts, more than the 8 that are found exactly");
    graph.parts = graph.gpus = 2;
    for (PlacementNode& one : graph.nodes)
        one.inputs.clear();
    EXPECT_EQ(
        why_no_exact_placement(graph),
        "has so many branches beside each other that there are more than 10000 down-sets to look "
        "at");
}

TEST(DownSets, OfAChainAndOfBranches) {
    const auto chain = down_sets({0, 1, 2, 4}, 100);
    ASSERT_TRUE(chain);
    EXPECT_EQ(*chain, (std::vector<NodeSet>{0, 1, 3, 7, 15}));
    EXPECT_EQ(down_sets({0, 0, 0}, 8)->size(), 8);
    EXPECT_FALSE(down_sets({0, 0, 0}, 7));
}

TEST(ListPlacement, GoesWhereItEndsFirst) {
    // Two independent chains of equal layers.
    PlacementGraph graph;
    graph.parts = graph.gpus = 2;
    graph.bandwidth = 1;
    graph.nodes = {node(5, 9, {}), node(5, 9, {}), node(5, 9, {0}), node(5, 9, {1})};
    const auto parts = list_placement(graph);
    ASSERT_TRUE(parts);
    EXPECT_EQ(busiest(graph, *parts), 10);
    graph.nodes[3].memory = 2;
    graph.memory = 1;
    EXPECT_FALSE(list_placement(graph));
}

}  // namespace
}  // namespace switchfold::exact_placement_test
