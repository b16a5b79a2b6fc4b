// SPDX-License-Identifier: Apache-2.0
#include "sim/results/causes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace switchfold::causes_test {
namespace {

constexpr MechanismSet bit(std::size_t mechanism) {
    return 1U << mechanism;
}

/// A game of mechanisms: what each adds by itself, what each pair adds beyond that, and all
/// together beyond that.
struct Game {
    double none = 0;
    std::array<double, kMechanismCount> own{};
    std::map<std::pair<std::size_t, std::size_t>, double> pairs;
    double all = 0;
    double operator()(MechanismSet on) const {
        double slowdown = none;
        for (std::size_t i = 0; i < kMechanismCount; ++i)
            slowdown += (on & bit(i)) != 0 ? own[i] : 0;
        for (const auto& [pair, more] : pairs)
            if ((on & bit(pair.first)) != 0 && (on & bit(pair.second)) != 0)
                slowdown += more;
        return slowdown + (on == kAllMechanisms ? all : 0);
    }
};

double sum(const SlowdownByCause& causes) {
    double all = causes.other;
    for (const Mechanism& mechanism : kMechanisms)
        all += causes.*mechanism.share;
    return all;
}

Game any_game() {
    const auto share = [] { return *rc::gen::inRange(-100, 1000) / 1000.0; };
    Game game;
    game.none = share();
    for (double& own : game.own)
        own = share();
    for (std::size_t i = 0; i < kMechanismCount; ++i)
        for (std::size_t j = i + 1; j < kMechanismCount; ++j)
            game.pairs[{i, j}] = share() / 5;
    game.all = share();
    return game;
}

/// The mean of what a mechanism adds over all orders in which mechanisms come.
double shapley(const Game& game, std::size_t mechanism) {
    std::array<std::size_t, kMechanismCount> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    double added = 0;
    double orders = 0;
    do {
        MechanismSet before = 0;
        for (std::size_t i = 0; order.at(i) != mechanism; ++i)
            before |= bit(order.at(i));
        added += game(before | bit(mechanism)) - game(before);
        ++orders;
    } while (std::next_permutation(order.begin(), order.end()));
    return added / orders;
}

TEST(FindCauses, WhereMechanismsDoNotMeetEachIsWhatItAdds) {
    Game game;
    game.none = 0.03;
    game.own[0] = 0.15;
    game.own[2] = 0.02;
    const SlowdownByCause causes = find_causes(0.20, kAllMechanisms, game);
    EXPECT_NEAR(causes.sm, 0.15, 1e-12);
    EXPECT_NEAR(causes.hbm, 0.02, 1e-12);
    EXPECT_NEAR(causes.l2, 0.0, 1e-12);
    EXPECT_NEAR(causes.completion, 0.0, 1e-12);
    EXPECT_NEAR(causes.other, 0.03, 1e-12);
}

// Two mechanisms that each slow a kernel alone by what both together do: either counts a half.
TEST(FindCauses, WhatTwoMechanismsBothDoIsDividedBetweenThem) {
    Game game;
    game.own[0] = game.own[2] = 0.10;
    game.pairs[{0, 2}] = -0.10;
    const SlowdownByCause causes = find_causes(0.10, kAllMechanisms, game);
    EXPECT_NEAR(causes.sm, 0.05, 1e-12);
    EXPECT_NEAR(causes.hbm, 0.05, 1e-12);
    EXPECT_NEAR(causes.other, 0.0, 1e-12);
}

// Three mechanisms that slow a kernel only together, and a fourth beside them.
TEST(FindCauses, WhatSeveralDoTogetherIsOfThoseThatDoIt) {
    const MechanismSet together = bit(0) | bit(2) | bit(3);
    const auto slowdown = [&](MechanismSet on) {
        return ((on & together) == together ? 0.09 : 0.0) + ((on & bit(1)) != 0 ? 0.01 : 0.0);
    };
    const SlowdownByCause causes = find_causes(0.10, kAllMechanisms, slowdown);
    for (const double one : {causes.sm, causes.hbm, causes.latency})
        EXPECT_NEAR(one, 0.03, 1e-12);
    EXPECT_NEAR(causes.l2, 0.01, 1e-12);
    EXPECT_NEAR(causes.completion, 0.0, 1e-12);
    EXPECT_NEAR(causes.other, 0.0, 1e-12);
}

TEST(FindCauses, AreScaledFromTheStepsThatWereRunToTheWhole) {
    Game game;
    game.own[1] = 0.06;
    game.none = 0.04;
    const SlowdownByCause causes = find_causes(0.20, kAllMechanisms, game);
    EXPECT_NEAR(causes.l2, 0.12, 1e-12);
    EXPECT_NEAR(causes.other, 0.08, 1e-12);
}

TEST(FindCauses, WhatTheMachineLacksIsNoCauseAndCostsNoRun) {
    const MechanismSet there = bit(0) | bit(3);
    const MechanismSet lacking = kAllMechanisms & ~there;
    EXPECT_EQ(
        cause_runs(there),
        (std::set<MechanismSet>{lacking, lacking | bit(0), lacking | bit(3), kAllMechanisms}));
    EXPECT_EQ(cause_runs(kAllMechanisms).size(), 2 * kMechanismCount + 2);
    Game game;
    game.own.fill(0.01);
    const SlowdownByCause causes = find_causes(0.06, there, game);
    EXPECT_NEAR(causes.sm, 0.01, 1e-12);
    EXPECT_NEAR(causes.latency, 0.01, 1e-12);
    EXPECT_EQ(causes.hbm, 0);
    EXPECT_NEAR(causes.other, 0.04, 1e-12);
}

RC_GTEST_PROP(FindCausesProperty, TheyAddUpToTheWhole, ()) {
    const Game game = any_game();
    const double whole = *rc::gen::inRange(1, 1000) / 1000.0;
    const MechanismSet there = *rc::gen::inRange(0U, kAllMechanisms + 1);
    RC_ASSERT(std::abs(sum(find_causes(whole, there, game)) - whole) < 1e-9);
}

// Renumbering the mechanisms renumbers their causes.
RC_GTEST_PROP(FindCausesProperty, TheyDoNotDependOnTheOrderOfTheList, ()) {
    const Game game = any_game();
    const std::size_t a = *rc::gen::inRange(std::size_t{0}, kMechanismCount);
    const std::size_t b = *rc::gen::inRange(std::size_t{0}, kMechanismCount);
    const auto swapped = [&](MechanismSet on) {
        const bool has_a = (on & bit(a)) != 0;
        const bool has_b = (on & bit(b)) != 0;
        on &= ~(bit(a) | bit(b));
        return game(on | (has_a ? bit(b) : 0) | (has_b ? bit(a) : 0));
    };
    const double whole = game(kAllMechanisms);
    const SlowdownByCause one = find_causes(whole, kAllMechanisms, game);
    const SlowdownByCause other = find_causes(whole, kAllMechanisms, swapped);
    for (std::size_t i = 0; i < kMechanismCount; ++i) {
        const std::size_t j = i == a ? b : i == b ? a : i;
        RC_ASSERT(std::abs(one.*kMechanisms[i].share - other.*kMechanisms[j].share) < 1e-9);
    }
}

RC_GTEST_PROP(FindCausesProperty, TheyAreShapleysValuesWherePairsAct, ()) {
    Game game = any_game();
    game.all = 0;
    // A pass that is slowed: what it loses without all mechanisms counts for none of them.
    game.none += std::max(0.0, 0.02 - game(kAllMechanisms));
    const double whole = game(kAllMechanisms);
    const SlowdownByCause causes = find_causes(whole, kAllMechanisms, game);
    const std::size_t i = *rc::gen::inRange(std::size_t{0}, kMechanismCount);
    RC_ASSERT(std::abs(causes.*kMechanisms[i].share - shapley(game, i)) < 1e-9);
}

/// Two ranks and two steps; each backward pass has a GEMM and a fill kernel.
class KernelTimes : public ::testing::Test {
protected:
    KernelTimes() {
        graph_.names = {"gemm", "fill"};
        graph_.steps = 2;
        auto rank = std::make_shared<RankGraph>();
        std::vector<OperationTimes> times;
        rank->streams = {{StreamKind::kGpu, "7", 0}};
        for (std::uint32_t step = 0; step < 2; ++step)
            for (std::uint32_t name = 0; name < 2; ++name) {
                Operation operation;
                operation.name = name;
                operation.step = step;
                operation.phase = Phase::kBackward;
                KernelOperation kernel;
                kernel.kernel_class =
                    name == 0 ? KernelClass::kGemmConv : KernelClass::kElementwise;
                kernel.isolated = microseconds(10);
                operation.body = kernel;
                rank->operations.push_back(operation);
                // The GEMM loses 5 us, the fill kernel nothing.
                times.push_back({microseconds(0), microseconds(name == 0 ? 15 : 10)});
            }
        graph_.ranks = {rank, rank};
        outcome_.times = {times, times};
    }
    ExecutionGraph graph_;
    Outcome outcome_;
};

TEST_F(KernelTimes, AreSummedByClassOverRanksAndSteps) {
    const auto times = class_times(graph_, outcome_, 2);
    ASSERT_EQ(times.size(), 2U);
    const ClassTime& gemm = times.at(std::string(to_string(KernelClass::kGemmConv)));
    EXPECT_EQ(gemm.kernels, 4U);
    EXPECT_DOUBLE_EQ(gemm.isolated_us, 40);
    EXPECT_DOUBLE_EQ(gemm.taken_us, 60);
    EXPECT_EQ(class_times(graph_, outcome_, 1).begin()->second.kernels, 2U);
}

TEST_F(KernelTimes, OnlyNamesThatLostTimeAreListed) {
    const auto worst = worst_kernels(graph_, outcome_, 5);
    ASSERT_EQ(worst.size(), 1U);
    EXPECT_EQ(worst[0].name, "gemm");
    EXPECT_EQ(worst[0].kernels, 4U);
    EXPECT_NEAR(worst[0].isolated_us, 10, 1e-9);
    EXPECT_NEAR(worst[0].lost_us, 5, 1e-9);
    EXPECT_TRUE(worst_kernels(graph_, outcome_, 0).empty());
}

}  // namespace
}  // namespace switchfold::causes_test
