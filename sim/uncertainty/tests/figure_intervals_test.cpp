// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/figure_intervals.h"

#include "sim/output/figures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::figure_intervals_test {
namespace {

PartKind collective(const std::string& operation = "all_reduce") {
    PartKind kind;
    kind.like.kind = "collective";
    kind.like.operation = operation;
    kind.like.algorithm = "ring";
    kind.like.generation = "Hopper";
    kind.like.ranks = 8;
    return kind;
}

PartKind of(const std::string& kind) {
    PartKind part;
    part.like.kind = kind;
    part.like.generation = "Hopper";
    return part;
}

/// Twenty machines, whose collectives and kernels are off by as much.
intervals::Residuals residuals() {
    std::vector<intervals::Residual> all;
    for (int i = 0; i < 20; ++i)
        for (const PartKind& kind : {collective(), of("kernel"), of("overlap")}) {
            intervals::Residual r;
            r.of = kind.like;
            r.machine = "machine" + std::to_string(i);
            r.table = "table";
            r.log_ratio = 0.02 * (i - 10);
            r.standing = "unseen";
            all.push_back(r);
        }
    return intervals::Residuals(all);
}

/// A step of one exposed collective and nothing else.
PartsOfStep of_collective(double us, PartKind kind = collective()) {
    PartsOfStep parts;
    parts.iteration_us = us;
    parts.kinds = {std::move(kind), of("overlap")};
    parts.overlap = 1;
    parts.exposed = {{us, {{0, us}}}};
    return parts;
}

/// A step of kernels alone, of which some are slowed, all beside communication.
PartsOfStep of_kernels(double given, double alone, double lost) {
    PartsOfStep parts;
    parts.iteration_us = given + alone + lost;
    parts.kinds = {of("kernel"), of("overlap")};
    parts.overlap = 1;
    parts.busy = {given, {{0, alone}}, lost, given + alone + lost};
    parts.phases[2] = parts.busy;  // backward
    return parts;
}

ScenarioFigures tell(IntervalCase one, ScenarioFigures figures) {
    one.figures = &figures;
    std::vector<IntervalCase> cases{one};
    tell_intervals(cases, residuals());
    return figures;
}

ScenarioFigures figures_of(const PartsOfStep& parts) {
    ScenarioFigures figures;
    figures.iteration_us = parts.iteration_us;
    return figures;
}

TEST(FigureIntervals, OnePartHasTheRangeOfCasesLikeIt) {
    const PartsOfStep parts = of_collective(200);
    const auto told = tell({parts}, figures_of(parts));
    const FigureInterval& interval = told.intervals.at("iteration_us");
    const intervals::Range range = residuals().range(collective().like);
    ASSERT_TRUE(interval.low && interval.high);
    EXPECT_TRUE(interval.measured);
    EXPECT_GT(range.high, 1.1);
    EXPECT_NEAR(*interval.low, 200 * range.low, 200 * 0.03);
    EXPECT_NEAR(*interval.high, 200 * range.high, 200 * 0.03);
    EXPECT_NE(interval.like.find("measured collectives on 20 kinds of machine"), std::string::npos)
        << interval.like;
}

TEST(FigureIntervals, AGainIsTighterThanEitherTime) {
    PartsOfStep slow = of_collective(200);
    PartsOfStep fast = of_collective(160);
    ScenarioFigures first = figures_of(slow);
    ScenarioFigures second = figures_of(fast);
    second.speedup = 1.25;
    std::vector<IntervalCase> cases{{slow, &first}, {fast, &second, 0}};
    tell_intervals(cases, residuals());
    const FigureInterval& time = second.intervals.at("iteration_us");
    const FigureInterval& gain = second.intervals.at("speedup");
    EXPECT_GT(std::log(*time.high / *time.low), 0.2);
    EXPECT_LT(std::log(*gain.high / *gain.low), 0.01);  // what both share cancels
    EXPECT_NEAR(*gain.low, 1.25, 1e-9);
}

TEST(FigureIntervals, WhatIsLeftOpenWidensTheIterationAndGainsOnIt) {
    PartsOfStep slow = of_collective(200);
    const auto closed = tell({slow}, figures_of(slow)).intervals.at("iteration_us");
    slow.open = OpenTime{20, 10, "left open"};
    PartsOfStep fast = of_collective(160);
    ScenarioFigures first = figures_of(slow);
    ScenarioFigures second = figures_of(fast);
    second.speedup = 1.25;
    std::vector<IntervalCase> cases{{slow, &first}, {fast, &second, 0}};
    tell_intervals(cases, residuals());
    const FigureInterval& time = first.intervals.at("iteration_us");
    EXPECT_NEAR(*time.low, *closed.low - 20, 1e-9);
    EXPECT_NEAR(*time.high, *closed.high + 10, 1e-9);
    EXPECT_NE(time.like.find("; left open"), std::string::npos);
    EXPECT_NEAR(*second.intervals.at("speedup").low, 1.25 * (1 - 20. / 200), 1e-9);
    EXPECT_NEAR(*second.intervals.at("speedup").high, 1.25 * (1 + 10. / 200), 1e-2);
}

TEST(FigureIntervals, KernelsOfUnknownShapeWidenEveryTimeAndLittleOfAGain) {
    const PartsOfStep closed = of_kernels(0, 100, 0);
    PartsOfStep parts = closed;
    parts.kernels_between = {0.5, 1.5};
    const auto before = tell({closed}, figures_of(closed)).intervals.at("iteration_us");
    ScenarioFigures first = figures_of(parts);
    ScenarioFigures second = figures_of(parts);
    second.speedup = 1;
    std::vector<IntervalCase> cases{{parts, &first}, {parts, &second, 0}};
    tell_intervals(cases, residuals());
    const FigureInterval& time = first.intervals.at("iteration_us");
    EXPECT_LT(*time.low, 0.75 * *before.low);
    EXPECT_GT(*time.high, 1.25 * *before.high);
    EXPECT_NE(time.like.find("kernels of unknown shape"), std::string::npos);
    const FigureInterval& gain = second.intervals.at("speedup");
    EXPECT_LT(*gain.high / *gain.low, 1.01) << "of both scenarios by the same";
}

TEST(FigureIntervals, FasterCollectivesLeaveNothingExposedButNotLess) {
    // A hundredth of the chain is exposed: a machine that is 2 % faster hides all of it.
    PartsOfStep parts = of_collective(1);
    parts.exposed = {{1, {{0, 100}}}};
    const auto told = tell({parts}, figures_of(parts));
    EXPECT_EQ(told.intervals.at("iteration_us").low, 0);
    EXPECT_GT(*told.intervals.at("iteration_us").high, 10);
}

TEST(FigureIntervals, KernelsAsTracedHaveNoError) {
    const PartsOfStep traced = of_kernels(100, 0, 0);
    ScenarioFigures figures = figures_of(traced);
    figures.backward_us = 100;
    const auto told = tell({traced}, figures);
    EXPECT_EQ(told.intervals.at("backward_us").low, 100);
    EXPECT_EQ(told.intervals.at("backward_us").high, 100);
    EXPECT_EQ(told.intervals.at("backward_us").like, "kernels as traced");
    const PartsOfStep modelled = of_kernels(0, 100, 0);
    const auto other = tell({modelled}, figures);
    EXPECT_LT(*other.intervals.at("backward_us").low, 90);
    EXPECT_GT(*other.intervals.at("backward_us").high, 110);
}

TEST(FigureIntervals, ASlowdownCoversWhatItsUnmeasuredCausesLeave) {
    const PartsOfStep parts = of_kernels(100, 0, 10);
    ScenarioFigures figures = figures_of(parts);
    figures.backward_slowdown = 0.1;
    const auto plain = tell({parts}, figures);
    EXPECT_GT(*plain.intervals.at("backward_slowdown").low, 0.07);
    EXPECT_GT(*plain.intervals.at("backward_slowdown").high, 0.105);
    figures.backward_slowdown_low = 0.02;
    EXPECT_EQ(tell({parts}, figures).intervals.at("backward_slowdown").low, 0.02);
}

TEST(FigureIntervals, KernelsLoseNoMoreThanTheTimeBesideThem) {
    // Communication is beside 5 % of the time, and half of that is lost.
    PartsOfStep parts = of_kernels(0, 100, 2.5);
    parts.busy.beside_us = 5;
    parts.phases[2] = parts.busy;
    ScenarioFigures figures = figures_of(parts);
    figures.backward_us = 102.5;
    figures.backward_slowdown = 0.025;
    std::vector<intervals::Residual> wrong;  // by up to eight times
    for (int i = 0; i < 20; ++i) {
        intervals::Residual r;
        r.of = of("overlap").like;
        r.machine = "machine" + std::to_string(i);
        r.table = "table";
        r.log_ratio = 0.1 * i;
        r.standing = "unseen";
        wrong.push_back(r);
    }
    std::vector<IntervalCase> cases{{parts, &figures}};
    tell_intervals(cases, intervals::Residuals(wrong));
    const FigureInterval& slowdown = figures.intervals.at("backward_slowdown");
    EXPECT_NEAR(slowdown.high.value(), 0.05, 1e-9);
    EXPECT_NEAR(slowdown.low.value(), 0.025, 0.01);
    // What was simulated stays in its own interval.
    parts.busy.beside_us = 1;
    parts.phases[2] = parts.busy;
    figures.intervals.clear();
    std::vector<IntervalCase> less{{parts, &figures}};
    tell_intervals(less, intervals::Residuals(wrong));
    EXPECT_NEAR(figures.intervals.at("backward_slowdown").high.value(), 0.025, 1e-9);
}

TEST(FigureIntervals, WhatNothingIsLikeIsUnmeasured) {
    PartKind unknown = collective();
    unknown.unmeasured = "no torus was measured";
    PartsOfStep parts = of_collective(50, unknown);
    const auto alone = tell({parts}, figures_of(parts)).intervals.at("iteration_us");
    EXPECT_FALSE(alone.measured);
    EXPECT_FALSE(alone.low || alone.high);
    EXPECT_EQ(alone.like, "unmeasured: no torus was measured");
    // Its other parts' intervals are carried.
    parts.kinds.push_back(of("kernel"));
    parts.busy.alone_us = {{2, 150}};
    parts.iteration_us = 200;
    const auto both = tell({parts}, figures_of(parts)).intervals.at("iteration_us");
    EXPECT_FALSE(both.measured);
    ASSERT_TRUE(both.low && both.high);
    EXPECT_LT(*both.low, 190);
    EXPECT_GT(*both.low, 50 + 150 * 0.8);
    EXPECT_TRUE(both.like.starts_with("unmeasured: no torus was measured; other parts: "))
        << both.like;
    // A part that does not matter leaves the figure measured.
    parts.busy.alone_us = {{2, 10'000}};
    parts.iteration_us = 10'050;
    EXPECT_TRUE(tell({parts}, figures_of(parts)).intervals.at("iteration_us").measured);
}

TEST(FigureIntervals, WholeStepsCountWhereTheyAreWider) {
    PartsOfStep parts = of_kernels(100, 0, 0);
    parts.step = of("step");
    std::vector<intervals::Residual> all = residuals().all();
    for (int i = 0; i < 20; ++i) {
        intervals::Residual r;
        r.of = parts.step->like;
        r.machine = "machine" + std::to_string(i);
        r.table = "steps";
        r.log_ratio = 0.05 * (i - 10);
        all.push_back(r);
    }
    const intervals::Residuals with_steps(all);
    ScenarioFigures figures = figures_of(parts);
    figures.samples_per_s = 1000;
    std::vector<IntervalCase> cases{{parts, &figures}};
    tell_intervals(cases, with_steps);
    const FigureInterval& interval = figures.intervals.at("iteration_us");
    EXPECT_NEAR(*interval.high, 100 * with_steps.range(parts.step->like).high, 1e-9);
    EXPECT_NE(interval.like.find("measured steps on 20 kinds of machine, wider"), std::string::npos)
        << interval.like;
    // The pace goes against the time.
    EXPECT_NEAR(*figures.intervals.at("samples_per_s").low * *interval.high, 1e5, 1e-6);
}

TEST(FigureIntervals, EqualInputGivesEqualIntervals) {
    const PartsOfStep parts = of_collective(200);
    EXPECT_EQ(
        tell({parts}, figures_of(parts)).intervals, tell({parts}, figures_of(parts)).intervals);
}

TEST(FigureIntervals, ABandwidthGoesAgainstItsTime) {
    const FigureInterval time = time_interval(40, collective(), residuals());
    const FigureInterval rate = inverse_interval(10, 40, time);
    EXPECT_NEAR(*rate.low, 10 * 40 / *time.high, 1e-9);
    EXPECT_NEAR(*rate.high, 10 * 40 / *time.low, 1e-9);
    EXPECT_FALSE(time_interval(40, of("nothing"), residuals()).low);
}

TEST(FigureIntervals, EveryKeyIsOfAFigureThatDeclaresIt) {
    PartsOfStep parts = of_kernels(100, 50, 10);
    ScenarioFigures figures = figures_of(parts);
    for (const Figure& figure : kFigures)
        if (figure.is_optional())
            figure.set(figures, 1);
    const auto told = tell({parts, nullptr, 0}, figures);
    EXPECT_GT(told.intervals.size(), 10U);
    for (const auto& [key, interval] : told.intervals) {
        const auto* const at =
            std::find_if(std::begin(kFigures), std::end(kFigures), [&, k = key](const Figure& f) {
                return f.key == k;
            });
        ASSERT_NE(at, std::end(kFigures)) << key;
        EXPECT_TRUE(at->has_interval) << key;
    }
}

}  // namespace
}  // namespace switchfold::figure_intervals_test
