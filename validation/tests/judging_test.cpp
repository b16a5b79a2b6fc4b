// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/judging.h"

#include "core/params_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <set>

namespace switchfold::validation::judging_test {
namespace {

Judging shipped() {
    return read_params_file<Judging>(SWITCHFOLD_SOURCE_DIR "/validation/data/judging.json");
}

Case measured(double value, double nothing = 0) {
    Case c;
    c.id = "a/1";
    c.group = "a";
    c.quantity = "time";
    c.measured = value;
    c.nothing = nothing;
    c.simulated = value;
    return c;
}

Judging one_limit(double at_most) {
    Judging judging;
    judging.limits.push_back({"s", "*", "*", at_most, "why"});
    return judging;
}

GroupVerdict verdict_of(std::vector<Case> cases, const Judging& judging) {
    SuiteResult result;
    result.name = "s";
    result.cases = std::move(cases);
    const auto verdicts = judge(result, judging);
    EXPECT_EQ(verdicts.size(), 1U);
    return verdicts.at(0);
}

TEST(Fits, AStarStandsForAnyText) {
    EXPECT_TRUE(fits("*", ""));
    EXPECT_TRUE(fits("hta_*_8r", "hta_dlrm_a100_8r"));
    EXPECT_FALSE(fits("hta_*_8r", "hta_dlrm_a100_2r"));
    EXPECT_TRUE(fits("*kernels*", "hta kernels paired rarely"));
    EXPECT_FALSE(fits("kernels", "kernels paired"));
}

TEST(Judge, MeansTheErrorsOfAGroup) {
    Case off = measured(10);
    off.simulated = 14;
    const auto verdict = verdict_of({measured(1000), off}, one_limit(0.19));
    EXPECT_NEAR(verdict.error, 0.2, 1e-12);
    EXPECT_FALSE(verdict.kept());
}

TEST(Judge, AnEffectIsJudgedByTheShareThatIsWrong) {
    // Lost 20 and 60 %, answered 30 and 60 %: 10 of 80 are wrong.
    Case small = measured(1.2, 1);
    small.simulated = 1.3;
    EXPECT_NEAR(verdict_of({small, measured(1.6, 1)}, one_limit(0.2)).error, 0.125, 1e-9);
    // Who answers that nothing is lost is wrong by all of it.
    small.simulated = 1;
    EXPECT_NEAR(verdict_of({small}, one_limit(0.2)).error, 1, 1e-9);
}

TEST(Judge, AnIntervalThatHoldsEveryAnswerJudgesNone) {
    Case wide = measured(1.5, 1);
    wide.low = 1.0;
    wide.high = 2.0;
    wide.simulated = 1.9;
    EXPECT_FALSE(wide.tells());
    EXPECT_EQ(verdict_of({wide}, one_limit(0.2)).judged, 0U);
    Case narrow = wide;
    narrow.low = 1.4;
    narrow.high = 1.6;
    narrow.simulated = 1.55;
    EXPECT_TRUE(narrow.tells());
    const auto verdict = verdict_of({wide, narrow}, one_limit(0.2));
    EXPECT_EQ(verdict.cases, 2U);
    EXPECT_EQ(verdict.judged, 1U);
    EXPECT_EQ(verdict.error, 0);
    Case half = measured(10);
    half.low = 5;
    half.high = 12;
    EXPECT_FALSE(half.tells());
}

TEST(Judge, WhatHasNoLimitDoesNotPassUnsaid) {
    Case off = measured(10);
    off.simulated = 10.1;
    const auto verdict = verdict_of({off}, {});
    EXPECT_FALSE(verdict.kept());
    EXPECT_EQ(verdict.reason, "no limit is stated for this quantity");
}

TEST(Judge, TellsWhatMeasurementsHadToDoWithTheSimulator) {
    Judging judging = one_limit(0.2);
    EXPECT_EQ(verdict_of({measured(1)}, judging).standing, Standing::kUnseen);
    judging.chosen.push_back({"s", {"a*"}, "a mechanism"});
    EXPECT_EQ(verdict_of({measured(1)}, judging).standing, Standing::kChosen);
    Case fitted = measured(1);
    fitted.fitted = true;
    EXPECT_EQ(verdict_of({fitted}, judging).standing, Standing::kFitted);
}

/// The limits that ship: half, twice, none, and no effect at all are never within tolerance.
TEST(Judge, NoLimitPassesHalfTwiceOrNothing) {
    const Judging judging = shipped();
    std::set<std::string> named;
    for (const Limit& limit : judging.limits) {
        named.insert(limit.suite);
        for (const double nothing : {0.0, 1.0}) {
            const std::vector<std::function<double(const Case&)>> wrong{
                [](const Case& c) { return c.measured / 2; },
                [](const Case& c) { return c.measured * 2; }, [](const Case&) { return 0.0; },
                [](const Case& c) { return c.nothing; }};
            for (const auto& answer : wrong) {
                std::vector<Case> cases;
                for (const double value : {1.1, 1.6, 5.0}) {
                    cases.push_back(measured(value, nothing));
                    cases.back().simulated = answer(cases.back());
                }
                EXPECT_FALSE(verdict_of(cases, one_limit(limit.at_most)).kept())
                    << limit.suite << ' ' << limit.quantity << ' ' << limit.groups;
            }
        }
        EXPECT_FALSE(limit.why.empty());
    }
    for (const Suite& suite : suites())
        EXPECT_TRUE(named.contains(std::string(suite.name))) << suite.name << " has no limit";
}

/// Whatever was measured, and in whichever interval: a group that is judged at all cannot pass with
/// half, twice or nothing of it.
RC_GTEST_PROP(Judge, WrongAnswersFailWhateverWasMeasured, ()) {
    const double nothing = *rc::gen::element(0.0, 1.0);
    std::vector<Case> cases;
    for (int i = *rc::gen::inRange(1, 8); i > 0; --i) {
        const auto drawn = [](int least, int most) {
            return *rc::gen::inRange(least, most) / 100.0;
        };
        cases.push_back(measured(drawn(1, 100'000), nothing));
        if (*rc::gen::arbitrary<bool>()) {
            cases.back().low = cases.back().measured * drawn(1, 100);
            cases.back().high = cases.back().measured * drawn(100, 400);
        }
    }
    const double factor = *rc::gen::element(0.5, 2.0, 0.0);
    for (Case& c : cases)
        c.simulated = factor * c.measured;
    const GroupVerdict verdict = verdict_of(cases, one_limit(*rc::gen::inRange(0, 50) / 100.0));
    RC_ASSERT(verdict.judged == 0 || !verdict.kept());
    RC_TAG(verdict.judged > 0);
}

/// Suites that run in a second, on the shipped data: every quantity has a limit, and wrong answers
/// put every group out of tolerance.
TEST(Judge, EachGroupOfShippedMeasurementsCanFail) {
    for (const char* name : {"kernels", "training"}) {
        SuiteOptions options;
        options.root = SWITCHFOLD_SOURCE_DIR;
        options.jobs = 2;
        if (std::string(name) == "training")
            options.data =
                SWITCHFOLD_SOURCE_DIR "/validation/data/reference/training/schedules.csv";
        const SuiteResult result = suite_named(name).run(options);
        ASSERT_FALSE(result.cases.empty()) << name;
        for (const double factor : {0.5, 2.0, 0.0}) {
            SuiteResult wrong = result;
            // Half and twice of zero are zero.
            std::erase_if(wrong.cases, [](const Case& c) { return c.measured == 0; });
            for (Case& c : wrong.cases)
                c.simulated = factor * c.measured;
            for (const GroupVerdict& verdict : judge(wrong, shipped())) {
                EXPECT_NE(verdict.reason, "no limit is stated for this quantity")
                    << name << ' ' << verdict.group << ' ' << verdict.quantity;
                EXPECT_FALSE(verdict.kept()) << name << ' ' << verdict.group << ' ' << factor;
            }
        }
    }
}

}  // namespace
}  // namespace switchfold::validation::judging_test
