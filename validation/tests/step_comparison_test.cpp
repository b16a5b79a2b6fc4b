// SPDX-License-Identifier: Apache-2.0
#include "validation/replay/step_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace switchfold::validation::step_comparison_test {
namespace {

OperationTimes span(std::uint64_t start_us, std::uint64_t end_us) {
    return {microseconds(start_us), microseconds(end_us)};
}

/// Six backward kernels of 10 us each on one stream, and an all-reduce on another.
class StepComparison : public ::testing::Test {
protected:
    static constexpr std::size_t kKernels = 6;

    StepComparison() {
        graph_.streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
        KernelGroup group;
        for (std::uint32_t i = 0; i < kKernels; ++i) {
            KernelOperation kernel;
            kernel.isolated = microseconds(10);
            Operation operation;
            operation.phase = Phase::kBackward;
            operation.body = kernel;
            graph_.operations.push_back(std::move(operation));
            OverlappedRun run;
            run.ordinal = run.operation = i;
            run.baseline_us = 10;
            run.duration_us = 12;
            group.runs.push_back(run);
        }
        pairs_.groups.push_back(std::move(group));
        Operation reduce;
        reduce.stream = 1;
        reduce.body = CollectiveOperation{};
        graph_.operations.push_back(std::move(reduce));
        rank_.graph = &graph_;
        rank_.measured = back_to_back(12, span(0, 100));
    }

    /// Times of the kernels back to back from 0, each `each_us` long, and of the collective.
    [[nodiscard]] static std::vector<OperationTimes>
    back_to_back(std::uint64_t each_us, OperationTimes collective) {
        std::vector<OperationTimes> spans;
        for (std::uint64_t i = 0; i < kKernels; ++i)
            spans.push_back(span(i * each_us, (i + 1) * each_us));
        spans.push_back(collective);
        return spans;
    }

    [[nodiscard]] SuiteResult compare() const {
        SuiteResult suite;
        compare_step("made_up/rank0", pairs_, {rank_}, suite);
        return suite;
    }
    static const Case& case_of(const SuiteResult& suite, const std::string& what) {
        const auto at = std::find_if(suite.cases.begin(), suite.cases.end(), [&](const Case& c) {
            return c.id == "made_up/rank0/" + what;
        });
        EXPECT_NE(at, suite.cases.end()) << what;
        return *at;
    }

    RankGraph graph_;
    OverlapTrace pairs_;
    RankSpans rank_;
};

TEST_F(StepComparison, SetsTheSameKernelsLossBesideTheMeasuredOne) {
    rank_.simulated = {back_to_back(13, span(0, 100))};
    const SuiteResult suite = compare();
    const Case& lost = case_of(suite, "time lost/backward");
    EXPECT_NEAR(lost.measured, 0.2, 1e-9);
    EXPECT_NEAR(lost.simulated, 0.3, 1e-9);
    const Case& slowdown = case_of(suite, "slowdown/all");
    EXPECT_NEAR(slowdown.measured, 1.2, 1e-9);
    EXPECT_NEAR(slowdown.simulated, 1.3, 1e-9);
    EXPECT_LE(*slowdown.low, 1.2 + 1e-9);
    EXPECT_GE(*slowdown.high, 1.2 - 1e-9);
}

TEST_F(StepComparison, TakesTheMeanOverTheRanksThatATraceStandsFor) {
    rank_.simulated = {back_to_back(10, span(0, 100)), back_to_back(14, span(0, 200))};
    const SuiteResult suite = compare();
    EXPECT_NEAR(case_of(suite, "time lost/all").simulated, 0.2, 1e-9);
    EXPECT_NEAR(case_of(suite, "residence").simulated, 150, 1e-9);
}

TEST_F(StepComparison, TellsTheShareOfTheResidenceBesideKernels) {
    rank_.simulated = {back_to_back(12, span(36, 108))};
    const SuiteResult suite = compare();
    EXPECT_NEAR(case_of(suite, "residence").measured, 100, 1e-9);
    EXPECT_NEAR(case_of(suite, "residence").simulated, 72, 1e-9);
    EXPECT_NEAR(case_of(suite, "overlap share").measured, 0.72, 1e-9);
    EXPECT_NEAR(case_of(suite, "overlap share").simulated, 0.5, 1e-9);
}

TEST_F(StepComparison, LeavesAPassWithFewPairedKernelsOut) {
    rank_.simulated = {back_to_back(13, span(0, 100))};
    const SuiteResult suite = compare();
    ASSERT_EQ(suite.unmatched.size(), 1U);
    EXPECT_EQ(suite.unmatched.front().id, "made_up/rank0/kernels/forward");
    EXPECT_EQ(suite.unmatched.front().why, "0 runs beside collectives were paired");
}

TEST_F(StepComparison, LeavesOutWhatLostNothing) {
    for (OverlappedRun& run : pairs_.groups.front().runs)
        run.duration_us = 9;
    rank_.simulated = {back_to_back(13, span(0, 100))};
    const SuiteResult suite = compare();
    EXPECT_EQ(suite.unmatched.size(), 3U);
    EXPECT_EQ(suite.unmatched.front().why, "6 runs beside collectives lost nothing");
}

}  // namespace
}  // namespace switchfold::validation::step_comparison_test
