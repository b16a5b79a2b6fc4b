// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/causes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <memory>

namespace switchfold::causes_test {
namespace {

/// The slowdown with each mechanism switched off in turn and, last, with all of them on.
struct Slowdowns {
    std::array<double, kMechanismCount + 1> of{};
    double operator()(std::size_t without) const { return of.at(without); }
};

TEST(FindCauses, ACauseIsWhatGoesAwayWithItsMechanism) {
    Slowdowns slowdowns;
    slowdowns.of.fill(0.20);
    slowdowns.of[0] = 0.05;  // without SM slots
    slowdowns.of[2] = 0.18;  // without HBM
    const SlowdownByCause causes = find_causes(0.20, slowdowns);
    EXPECT_NEAR(causes.sm, 0.15, 1e-12);
    EXPECT_NEAR(causes.hbm, 0.02, 1e-12);
    EXPECT_NEAR(causes.l2, 0.0, 1e-12);
    EXPECT_NEAR(causes.latency, 0.0, 1e-12);
    EXPECT_NEAR(causes.clock, 0.0, 1e-12);
    EXPECT_NEAR(causes.other, 0.03, 1e-12);
}

TEST(FindCauses, AreScaledFromTheStepsThatWereRunToTheWhole) {
    Slowdowns slowdowns;
    slowdowns.of.fill(0.10);
    slowdowns.of[1] = 0.04;
    EXPECT_NEAR(find_causes(0.20, slowdowns).l2, 0.12, 1e-12);
}

TEST(FindCauses, WithoutASlowdownThereIsNoneToScaleBy) {
    Slowdowns slowdowns;
    slowdowns.of.fill(0.0);
    slowdowns.of[3] = -0.01;
    const SlowdownByCause causes = find_causes(0.0, slowdowns);
    EXPECT_NEAR(causes.latency, 0.01, 1e-12);
    EXPECT_NEAR(causes.other, -0.01, 1e-12);
}

RC_GTEST_PROP(FindCausesProperty, TheyAddUpToTheWhole, ()) {
    const auto share = [] { return *rc::gen::inRange(-100, 1000) / 1000.0; };
    Slowdowns slowdowns;
    for (double& of : slowdowns.of)
        of = share();
    const double whole = share();
    const SlowdownByCause causes = find_causes(whole, slowdowns);
    double sum = causes.other;
    for (const Mechanism& mechanism : kMechanisms)
        sum += causes.*mechanism.share;
    RC_ASSERT(std::abs(sum - whole) < 1e-9);
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
