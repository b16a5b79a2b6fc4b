// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/peer_copies/reduce_tree.h"

#include "interconnect/topology_builder.h"
#include "models/collectives/peer_copies/wiring.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace switchfold::reduce_tree_test {
namespace {

double busiest(const Wiring& wiring, const ReduceTree& parents, std::vector<double> loaded) {
    add_load(wiring, parents, loaded);
    return *std::max_element(loaded.begin(), loaded.end());
}

std::uint32_t depth_of(const ReduceTree& parents) {
    std::uint32_t deepest = 0;
    for (std::uint32_t member = 0; member < parents.size(); ++member) {
        std::uint32_t depth = 0;
        for (std::uint32_t at = member; parents[at] != at; at = parents[at])
            if (++depth > parents.size())
                return UINT32_MAX;  // a cycle, so not a tree
        deepest = std::max(deepest, depth);
    }
    return deepest;
}

/// The best of all trees: tries every parent for every member except the root.
std::pair<double, std::uint32_t>
by_brute_force(const Wiring& wiring, std::uint32_t root, const std::vector<double>& loaded) {
    ReduceTree parents(wiring.members, 0);
    parents[root] = root;
    std::pair<double, std::uint32_t> best{1e300, UINT32_MAX};
    for (;;) {
        bool own = false;
        for (std::uint32_t m = 0; m < parents.size(); ++m)
            own = own || (m != root && parents[m] == m);
        const std::uint32_t depth = own ? UINT32_MAX : depth_of(parents);
        if (depth != UINT32_MAX) {
            const double load = busiest(wiring, parents, loaded);
            if (load < best.first * (1 - 1e-9))
                best = {load, depth};
            else if (load <= best.first * (1 + 1e-9))
                best.second = std::min(best.second, depth);
        }
        std::size_t digit = 0;
        while (digit < parents.size() && (digit == root || ++parents[digit] == parents.size())) {
            if (digit != root)
                parents[digit] = 0;
            ++digit;
        }
        if (digit == parents.size())
            return best;
    }
}

void expect_same(const FoundTree& found, std::pair<double, std::uint32_t> best) {
    RC_ASSERT(found.proved);
    RC_ASSERT(found.load <= best.first * (1 + 1e-6));
    RC_ASSERT(found.load >= best.first * (1 - 1e-6));
    RC_ASSERT(found.depth == best.second);
    RC_ASSERT(depth_of(found.parents) == found.depth);
    RC_ASSERT(found.bound <= best.first * (1 + 1e-6));
}

constexpr std::uint64_t kEverything = 50'000'000;

RC_GTEST_PROP(ReduceTree, IsTheBestOfAllOnRandomWires, ()) {
    Wiring wiring;
    wiring.members = *rc::gen::inRange(2U, 6U);
    const std::uint32_t links = *rc::gen::inRange(1U, 12U);
    for (std::uint32_t i = 0; i < links; ++i)
        wiring.rates.push_back(*rc::gen::inRange(1, 9));
    for (std::uint32_t i = 0; i < wiring.members * wiring.members; ++i) {
        auto& way = wiring.ways.emplace_back();
        for (std::uint32_t link = 0; link < links; ++link)
            if (*rc::gen::inRange(0, 3) == 0)
                way.push_back({link, *rc::gen::element(1.0, 1.0, 0.5)});
    }
    std::vector<double> loaded;
    for (std::uint32_t i = 0; i < links; ++i)
        loaded.push_back(*rc::gen::element(0.0, 0.0, 0.25));
    const std::uint32_t root = *rc::gen::inRange(0U, wiring.members);
    expect_same(find_tree(wiring, root, loaded, kEverything), by_brute_force(wiring, root, loaded));
}

PcieTopology box(std::uint32_t gpus, std::uint32_t switches, std::uint32_t roots) {
    PcieTopology p;
    p.gpus = gpus;
    p.switches = switches;
    p.roots = roots;
    p.gpu_link.lane_bandwidth = gigabytes_per_second(16);
    p.switch_link = p.root_link = p.gpu_link;
    return p;
}

std::vector<std::uint32_t> all(std::uint32_t gpus) {
    std::vector<std::uint32_t> ranks(gpus);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
}

RC_GTEST_PROP(ReduceTree, IsTheBestOfAllOnPcieTrees, ()) {
    const std::uint32_t gpus = *rc::gen::inRange(2U, 7U);
    const std::uint32_t roots = *rc::gen::inRange(1U, 3U);
    const Wiring wiring =
        wiring_of(box(gpus, roots * *rc::gen::inRange(0U, 3U), roots).build(), all(gpus));
    const std::vector<double> loaded(wiring.rates.size(), 0);
    const std::uint32_t root = *rc::gen::inRange(0U, gpus);
    expect_same(find_tree(wiring, root, loaded, kEverything), by_brute_force(wiring, root, loaded));
}

TEST(ReduceTree, IsTheBestOfAllOfEightGpus) {
    // A cube of NVLinks with two different rates; all other pairs share PCIe.
    Wiring wiring;
    wiring.members = 8;
    wiring.ways.resize(64);
    wiring.rates = {6e9, 6e9};
    for (std::uint32_t a = 0; a < 8; ++a)
        for (std::uint32_t b = a + 1; b < 8; ++b) {
            const bool joined = ((a ^ b) & ((a ^ b) - 1)) == 0;
            for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
                wiring.ways[std::size_t{from} * 8 + to] = {
                    {joined      ? static_cast<std::uint32_t>(wiring.rates.size())
                     : from < to ? 0U
                                 : 1U,
                     1}};
                if (joined)
                    wiring.rates.push_back((a + b) % 3 == 0 ? 20e9 : 40e9);
            }
        }
    const std::vector<double> loaded(wiring.rates.size(), 0);
    const FoundTree found = find_tree(wiring, 2, loaded, kEverything);
    const auto [load, depth] = by_brute_force(wiring, 2, loaded);
    EXPECT_TRUE(found.proved);
    EXPECT_NEAR(found.load / load, 1, 1e-6);
    EXPECT_EQ(found.depth, depth);
}

TEST(ReduceTree, CrossesTheNarrowLinkOnceEachWay) {
    // Two groups joined by one narrow link, which owners would load 4 times as much.
    for (const std::uint32_t gpus : {8U, 16U}) {
        PcieTopology narrow = box(gpus, 2, 2);
        narrow.root_link->lane_bandwidth = gigabytes_per_second(4);
        const Wiring wiring = wiring_of(narrow.build(), all(gpus));
        const FoundTree tree = find_tree(wiring, 0, std::vector<double>(wiring.rates.size(), 0));
        // With 16 GPUs there are too many trees to prove the depth, but the load is at its bound.
        EXPECT_TRUE(tree.proved || gpus == 16) << gpus;
        EXPECT_NEAR(tree.load, tree.bound, 1e-9 * tree.load);
        std::uint32_t across = 0;
        for (std::uint32_t m = 0; m < gpus; ++m)
            across += (m < gpus / 2) != (tree.parents[m] < gpus / 2) ? 1 : 0;
        EXPECT_EQ(across, 1U) << gpus;
    }
}

TEST(ReduceTree, MirroredTreesShareTheLinksEvenly) {
    const Wiring wiring = wiring_of(box(8, 2, 2).build(), all(8));
    std::vector<double> loaded(wiring.rates.size(), 0);
    const std::vector<FoundTree> trees = find_trees(wiring, 8);
    ASSERT_EQ(trees.size(), 8U);
    std::vector<std::uint32_t> roots;
    for (const FoundTree& tree : trees) {
        add_load(wiring, tree.parents, loaded);
        for (std::uint32_t m = 0; m < 8; ++m)
            if (tree.parents[m] == m)
                roots.push_back(m);
    }
    EXPECT_EQ(roots, all(8));
    // Each of the 8 GPU links carries 14 copies of an array on average, and each tree crosses the
    // narrow link once.
    const double unit = 1 / wiring.rates.front();
    EXPECT_LE(*std::max_element(loaded.begin(), loaded.end()), 15 * unit);
}

TEST(ReduceTree, NvlinkCubeMeshNeedsNoPcie) {
    // NVLink joins members of the same quad, and members at the same place in both quads.
    Wiring wiring;
    wiring.members = 8;
    wiring.ways.resize(64);
    const auto join = [&](std::uint32_t a, std::uint32_t b, double rate) {
        for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
            wiring.ways[std::size_t{from} * 8 + to] = {
                {static_cast<std::uint32_t>(wiring.rates.size()), 1}};
            wiring.rates.push_back(rate);
        }
    };
    for (std::uint32_t a = 0; a < 8; ++a)
        for (std::uint32_t b = a + 1; b < 8; ++b)
            join(a, b, a / 4 == b / 4 || a % 4 == b % 4 ? 25e9 : 5e9);
    const FoundTree tree = find_tree(wiring, 3, std::vector<double>(wiring.rates.size(), 0));
    EXPECT_TRUE(tree.proved);
    EXPECT_NEAR(tree.load, 1 / 25e9, 1e-15);
    EXPECT_EQ(tree.depth, 2U);
}

}  // namespace
}  // namespace switchfold::reduce_tree_test
