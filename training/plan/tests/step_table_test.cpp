// SPDX-License-Identifier: Apache-2.0
#include "training/plan/division/step_table.h"

#include "core/error.h"
#include "training/plan/division/batch_division.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::step_table_test {
namespace {

/// Step times of ResNet-50 on one GPU, in seconds. Source: siasosp23/artifacts@aaf7a0de.
constexpr const char* kSia =
    "gpu,batch,seconds\n"
    "A100,20,0.1456\nA100,28,0.1481\nA100,40,0.1574\nA100,57,0.1588\nA100,81,0.177\n"
    "A100,115,0.1989\nA100,163,0.2421\nA100,200,0.2714\n"
    "RTX 2080 Ti,20,0.2142\nRTX 2080 Ti,28,0.2252\nRTX 2080 Ti,40,0.2296\n"
    "RTX 2080 Ti,57,0.2145\nRTX 2080 Ti,81,0.3215\nRTX 2080 Ti,115,0.3298\n"
    "RTX 2080 Ti,163,0.506\nRTX 2080 Ti,200,0.4632\n"
    "T4,20,0.1474\nT4,28,0.2081\nT4,40,0.2535\nT4,57,0.3239\nT4,81,0.4207\nT4,115,0.5602\n"
    "T4,163,0.7624\nT4,200,0.9235\n";

std::vector<std::vector<double>> sia() {
    std::vector<std::vector<double>> tables;
    for (const auto& [gpu, steps] : parse_step_table(kSia, "sia.csv"))
        tables.push_back(seconds_by_samples(steps));
    return tables;
}

TEST(StepTable, ThreeHundredImagesOnThreeUnequalGpus) {
    const auto tables = sia();
    const std::vector<StepTimes> devices(tables.begin(), tables.end());
    const auto even = divide_evenly(devices, 300);
    EXPECT_EQ(even->samples, (std::vector<std::uint32_t>{100, 100, 100}));
    EXPECT_NEAR(even->seconds, 0.4987, 5e-5);
    EXPECT_FALSE(is_monotone(devices[1]));
    const auto exact = divide_exactly(devices, 300);
    EXPECT_EQ(exact->samples, (std::vector<std::uint32_t>{190, 68, 42}));
    EXPECT_NEAR(exact->seconds, 0.2635, 5e-5);
    EXPECT_NEAR(even->seconds / exact->seconds, 1.89, 5e-3);
    // Here the greedy division is optimal too, although one GPU's times are not monotone.
    EXPECT_EQ(divide_greedily(devices, 300)->samples, exact->samples);
}

TEST(StepTable, BetweenMeasuredBatchesTimesAreLinear) {
    const auto table = parse_step_table("batch,x,seconds,gpu\n4,a,2,T4\n2,b,1,T4\n", "t.csv");
    EXPECT_EQ(seconds_by_samples(table.at("T4")), (std::vector<double>{0, 1, 1, 1.5, 2}));
}

std::string problem_of(const std::string& text) {
    try {
        static_cast<void>(parse_step_table(text, "t.csv"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(StepTable, WrongLinesAreTold) {
    EXPECT_EQ(
        problem_of("gpu,batch\nT4,1\n"),
        "t.csv: line 1: has no column seconds; expected the columns gpu, batch, seconds");
    EXPECT_EQ(
        problem_of("gpu,batch,seconds\n"),
        "t.csv: line 1: is followed by no step time; expected at least one");
    EXPECT_EQ(
        problem_of("gpu,batch,seconds\nT4,1,1\nT4,1,2\n"),
        "t.csv: line 3: has batch 1 of T4 again; expected each once");
    EXPECT_EQ(
        problem_of("gpu,batch,seconds\n,0,nan\nT4,1\n"),
        "t.csv: line 2: names no gpu; expected one\n"
        "t.csv: line 2: batch is \"0\"; expected a whole number from 1 to 1048576\n"
        "t.csv: line 2: seconds is \"nan\"; expected a number above 0 and below 1e6\n"
        "t.csv: line 3: has 2 cells; expected 3");
}

}  // namespace
}  // namespace switchfold::step_table_test
