// SPDX-License-Identifier: Apache-2.0
#include "training/memory/recompute/network_chain.h"
#include "training/memory/recompute/recompute_chain.h"
#include "training/network/zoo/zoo.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace switchfold::recompute_test {
namespace {

std::vector<ChainUnit> random_chain() {
    std::vector<ChainUnit> chain(*rc::gen::inRange<std::size_t>(1, 7));
    const auto bytes = [] { return *rc::gen::inRange<std::uint64_t>(0, 20); };
    for (ChainUnit& unit : chain) {
        unit.forward = *rc::gen::inRange(1, 20);
        unit.input = bytes();
        unit.inside = bytes();
        unit.working = bytes();
        if (*rc::gen::arbitrary<bool>() && unit.inside > 0) {
            unit.selective = *rc::gen::inRange<std::uint64_t>(0, unit.inside);
            unit.selective_seconds = *rc::gen::inRange(1, 10);
        }
    }
    return chain;
}

/// Calls `visit` for every plan.
void for_each_plan(
    const std::vector<ChainUnit>& chain, bool offload,
    const std::function<void(const RecomputePlan&)>& visit) {
    RecomputePlan plan;
    const std::function<void(std::uint32_t)> go = [&](std::uint32_t i) {
        if (i == chain.size()) {
            visit(plan);
            return;
        }
        const auto take = [&](SegmentMode mode, std::uint32_t last) {
            plan.push_back({mode, i, last});
            go(last + 1);
            plan.pop_back();
        };
        take(SegmentMode::kKeep, i);
        if (chain[i].selective > 0)
            take(SegmentMode::kSelective, i);
        if (offload)
            take(SegmentMode::kOffload, i);
        for (std::uint32_t last = i; last < chain.size(); ++last)
            take(SegmentMode::kRecompute, last);
    };
    go(0);
}

RC_GTEST_PROP(RecomputeProperty, ExactPlansAreThoseOfBruteForce, ()) {
    const auto chain = random_chain();
    ExactRecompute options;
    options.memory = *rc::gen::inRange<std::uint64_t>(10, 150);
    options.offload_budget = *rc::gen::element<std::uint64_t>(0, 0, 15, 40);
    double least = std::numeric_limits<double>::infinity();
    std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();
    for_each_plan(chain, options.offload_budget > 0, [&](const RecomputePlan& plan) {
        const RecomputeCost cost = cost_of(chain, plan);
        if (cost.peak <= options.memory && cost.offloaded <= options.offload_budget)
            least = std::min(least, cost.extra);
    });
    for_each_plan(chain, false, [&](const RecomputePlan& plan) {
        memory = std::min(memory, cost_of(chain, plan).peak);
    });
    RC_ASSERT(least_recompute_memory(chain) == memory);
    const RecomputeChoice choice = recompute_exactly(chain, options);
    RC_ASSERT(choice.plan.has_value() == std::isfinite(least));
    RC_ASSERT(choice.plan.has_value() == choice.refusal.empty());
    if (choice.plan) {
        RC_ASSERT(choice.cost.extra == least);
        RC_ASSERT(choice.cost.peak <= options.memory);
        RC_ASSERT(choice.cost.offloaded <= options.offload_budget);
    }
}

/// In a plan of memory, what is kept has its place for the whole iteration.
RC_GTEST_PROP(RecomputeProperty, ExactPlansOfWhatIsHeldAreThoseOfBruteForce, ()) {
    const auto chain = random_chain();
    ExactRecompute options;
    options.memory = *rc::gen::inRange<std::uint64_t>(10, 150);
    options.held = true;
    double least = std::numeric_limits<double>::infinity();
    std::uint64_t held = 0;
    std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();
    for_each_plan(chain, false, [&](const RecomputePlan& plan) {
        const RecomputeCost cost = cost_of(chain, plan);
        RC_ASSERT(cost.held >= cost.peak);
        memory = std::min(memory, cost.held);
        if (cost.held > options.memory || cost.extra > least)
            return;
        held = cost.extra < least ? cost.held : std::min(held, cost.held);
        least = cost.extra;
    });
    RC_ASSERT(least_recompute_memory(chain, true) == memory);
    const RecomputeChoice choice = recompute_exactly(chain, options);
    RC_ASSERT(choice.plan.has_value() == std::isfinite(least));
    if (choice.plan) {
        RC_ASSERT(choice.cost.extra == least);
        RC_ASSERT(choice.cost.held == held);
    }
}

std::vector<ChainUnit> equal_units(std::size_t many) {
    return std::vector<ChainUnit>(many, {"u", 1, 1, 16, 2, 6, 0.25});
}

TEST(Recompute, RulesCostWhatTheySay) {
    const auto chain = equal_units(16);
    EXPECT_EQ(cost_of(chain, keep_all(chain)).peak, 16U * 17 + 2);
    EXPECT_EQ(cost_of(chain, keep_all(chain)).extra, 0);
    EXPECT_EQ(cost_of(chain, recompute_full(chain)).peak, 16U + 16 + 2);
    EXPECT_EQ(cost_of(chain, recompute_full(chain)).extra, 16);
    EXPECT_EQ(cost_of(chain, recompute_selective(chain)).peak, 16U * 11 + 6 + 2);
    EXPECT_EQ(cost_of(chain, recompute_selective(chain)).extra, 4);
    // The peak holds four checkpoints and one segment of four whole units.
    EXPECT_EQ(cost_of(chain, recompute_every(chain, 4)).peak, 4U + 4 * 16 + 3 + 2);
    EXPECT_EQ(recompute_every(chain, 5).back(), (Segment{SegmentMode::kRecompute, 15, 15}));
}

TEST(Recompute, ExactNeverCostsMoreThanTheRules) {
    const auto chain = equal_units(16);
    for (const RecomputePlan& rule :
         {keep_all(chain), recompute_full(chain), recompute_selective(chain)}) {
        const RecomputeCost cost = cost_of(chain, rule);
        ExactRecompute options;
        options.memory = cost.peak;
        const RecomputeChoice choice = recompute_exactly(chain, options);
        ASSERT_TRUE(choice.plan.has_value());
        EXPECT_LE(choice.cost.extra, cost.extra);
    }
    ExactRecompute options;
    options.memory = least_recompute_memory(chain) - 1;
    EXPECT_EQ(
        recompute_exactly(chain, options).refusal, "33 B hold no plan; expected 34 B or more");
}

TEST(Recompute, CopiesThatHideTakeThePlaceOfWorkDoneTwice) {
    const auto chain = equal_units(16);
    ExactRecompute options;
    options.memory = 100;
    const double alone = recompute_exactly(chain, options).cost.extra;
    options.offload_budget = 5 * 16;
    const RecomputeChoice both = recompute_exactly(chain, options);
    EXPECT_LT(both.cost.extra, alone);
    EXPECT_LE(both.cost.offloaded, 80U);
    options.offload_budget = 16 * 16;
    EXPECT_EQ(recompute_exactly(chain, options).cost.extra, 0);
}

/// Korthikanti et al. 2022: a transformer layer in 16 bits keeps 34 s b h + 5 a s^2 b bytes, which
/// include dropout's two masks of s b h. Our network has no dropout, and keeps the norms' inputs.
TEST(Recompute, BlocksOfATransformerKeepWhatIsPublished) {
    const Network network = *find_network("gpt_22b");
    NetworkChainOptions options;
    options.batch = 4;
    options.kept_of_score = 2 * options.element + 1;  // with dropout
    const auto chain = network_chain(network, options);
    const double sbh = 2048.0 * 4 * 6144;
    const auto block = std::find_if(
        chain.begin(), chain.end(), [](const ChainUnit& unit) { return unit.selective > 0; });
    ASSERT_NE(block, chain.end());
    EXPECT_DOUBLE_EQ(static_cast<double>(block->input), 2 * sbh);
    EXPECT_DOUBLE_EQ(static_cast<double>(block->selective), 5.0 * 64 * 2048 * 2048 * 4);
    const auto kept = static_cast<double>(block->input + block->inside - block->selective);
    EXPECT_NEAR(kept / sbh, 32, 0.05 * 32);
    EXPECT_EQ(
        std::count_if(
            chain.begin(), chain.end(), [](const ChainUnit& unit) { return unit.selective > 0; }),
        48);
    ExactRecompute exact;
    exact.memory = cost_of(chain, recompute_selective(chain)).peak / 2;
    EXPECT_TRUE(recompute_exactly(chain, exact).plan.has_value());
}

}  // namespace
}  // namespace switchfold::recompute_test
