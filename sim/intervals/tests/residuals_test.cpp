// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/residuals.h"

#include "core/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace switchfold::intervals::residuals_test {
namespace {

Residual residual(std::string machine, double log_ratio, std::string algorithm = "ring") {
    Residual r;
    r.of.kind = "collective";
    r.of.operation = "all_reduce";
    r.of.algorithm = std::move(algorithm);
    r.of.generation = "Hopper";
    r.of.fabric = "switched";
    r.of.bytes = 1 << 20;
    r.of.ranks = 8;
    r.machine = std::move(machine);
    r.table = "t";
    r.log_ratio = log_ratio;
    r.standing = "unseen";
    return r;
}

/// So many machines, whose errors are even from -spread to spread.
std::vector<Residual> machines(int count, double spread) {
    std::vector<Residual> out;
    for (int i = 0; i < count; ++i)
        out.push_back(residual(fmt::format("m{}", i), spread * (2.0 * i / (count - 1) - 1)));
    return out;
}

TEST(Residuals, RangeHoldsTheMiddleOfWhatMachinesShowed) {
    const Range range = Residuals(machines(201, 0.2)).range(residual("", 0).of);
    ASSERT_TRUE(range.measured());
    EXPECT_NEAR(std::log(range.low), -0.18, 0.005);
    EXPECT_NEAR(std::log(range.high), 0.18, 0.005);
    EXPECT_EQ(range.machines, 201U);
}

TEST(Residuals, AMachinesOwnMeasurementsAreAskedAlone) {
    const Residuals others(machines(201, 0.2));
    std::vector<Residual> own;
    for (int i = 0; i < 9; ++i)
        own.push_back(residual("mine", 0.05 + 0.002 * i));
    const Range range = others.with_own(own).range(residual("", 0).of);
    EXPECT_EQ(range.low, 1);
    EXPECT_GT(range.high, std::exp(0.06));
    EXPECT_LT(range.high, std::exp(0.08));
    EXPECT_EQ(range.measurements, 9U);
    EXPECT_NE(range.nearest.find("of this machine"), std::string::npos) << range.nearest;
    // Two tell too little, and what they are not like asks the others.
    own.resize(2);
    EXPECT_EQ(others.with_own(own).range(residual("", 0).of).machines, 202U);
    Likeness far = residual("", 0).of;
    far.operation = "all_gather";
    far.algorithm = "tree";
    far.ranks = 64;
    EXPECT_GT(others.with_own(own).range(far).machines, 1U);
}

TEST(Residuals, WhatIsTooFarIsUnmeasuredNotWide) {
    const Residuals one({residual("m", 0.1)});
    Likeness near = residual("", 0).of;
    near.ranks = 64;
    EXPECT_TRUE(one.range(near).measured());
    Likeness far = near;
    far.ranks = 16384;
    far.machines = 2048;
    EXPECT_FALSE(one.range(far).measured());
}

TEST(Residuals, WhatIsWrittenIsRead) {
    std::vector<Residual> rows{residual("a, \"b\"", 0.125), residual("c", -0.5)};
    rows[1].of.kind = "kernel";
    rows[1].of.us = 12.5;
    const Residuals read = Residuals::parse(to_csv(rows), "written");
    ASSERT_EQ(read.all().size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read.all()[i].of, rows[i].of);
        EXPECT_EQ(read.all()[i].machine, rows[i].machine);
        EXPECT_EQ(read.all()[i].log_ratio, rows[i].log_ratio);
    }
}

TEST(Residuals, FewMachinesMakeItWide) {
    const Range many = Residuals(machines(101, 0.2)).range(residual("", 0).of);
    const Range few = Residuals(machines(3, 0.2)).range(residual("", 0).of);
    EXPECT_LT(few.low, many.low);
    EXPECT_GT(few.high, many.high);
}

// Two rows of one machine may agree by chance: what else is of their kind says how far it may be.
TEST(Residuals, OneMachineDoesNotSpeakForItsKind) {
    std::vector<Residual> rows = machines(51, 0.4);
    for (Residual& r : rows)
        r.of.bytes = 4e9;
    const auto over_pcie = [](const std::string& machine, double error) {
        Residual r = residual(machine, error);
        r.of.fabric = "pcie";
        return r;
    };
    for (const double error : {0.01, 0.02})
        rows.push_back(over_pcie("alone", error));
    const Likeness asked = over_pcie("", 0).of;
    const Range one = Residuals(rows).range(asked);
    EXPECT_EQ(one.machines, 1U);
    EXPECT_LT(one.low, std::exp(-0.2));
    EXPECT_GT(one.high, std::exp(0.2));
    rows.push_back(over_pcie("another", 0.015));
    const Range two = Residuals(rows).range(asked);
    EXPECT_GT(two.low, one.low);
    EXPECT_LT(two.high, one.high);
}

TEST(Residuals, AHundredRowsOfATableSayNoMoreThanOne) {
    std::vector<Residual> rows = machines(21, 0.1);
    const Range before = Residuals(rows).range(residual("", 0).of);
    for (int i = 0; i < 100; ++i)
        rows.push_back(residual("m20", 0.1));
    const Range after = Residuals(rows).range(residual("", 0).of);
    EXPECT_DOUBLE_EQ(before.low, after.low);
    EXPECT_DOUBLE_EQ(before.high, after.high);
}

TEST(Residuals, ContainsTheSimulatedValue) {
    std::vector<Residual> rows;
    for (int i = 0; i < 10; ++i)
        rows.push_back(residual(fmt::format("m{}", i), 0.3));
    const Range range = Residuals(rows).range(residual("", 0).of);
    EXPECT_EQ(range.low, 1);
    EXPECT_NEAR(range.high, std::exp(0.3), 1e-9);
}

TEST(Residuals, NothingLikeItIsUnmeasured) {
    const Residuals residuals(machines(5, 0.1));
    Likeness other = residual("", 0).of;
    other.kind = "kernel";
    EXPECT_FALSE(residuals.range(other).measured());
    EXPECT_NE(residuals.range(other).nearest.find("nothing like"), std::string::npos);
    other = residual("", 0).of;
    other.generation = "CDNA 3";
    other.operation = "send_receive";
    other.fabric = "pcie";
    EXPECT_FALSE(residuals.range(other).measured());
    EXPECT_FALSE(Residuals({}).range(other).measured());
}

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size()))];
}

TEST(Residuals, DrawsAreDistributedAsTheRange) {
    const Residuals residuals(machines(201, 0.2));
    const std::vector<Likeness> of{residual("", 0).of};
    const auto draws = residuals.draws(of, 4000, 1);
    ASSERT_EQ(draws.size(), 1U);
    const Range range = residuals.range(of[0]);
    EXPECT_NEAR(quantile(draws[0], 0.05), range.low, 0.01);
    EXPECT_NEAR(quantile(draws[0], 0.95), range.high, 0.01);
    EXPECT_EQ(residuals.draws(of, 100, 7), residuals.draws(of, 100, 7));
    EXPECT_NE(residuals.draws(of, 100, 7), residuals.draws(of, 100, 8));
}

TEST(Residuals, ARatioOfTwoAlgorithmsIsTighterThanEither) {
    std::vector<Residual> rows = machines(41, 0.3);
    for (int i = 0; i < 41; ++i)
        rows.push_back(residual(fmt::format("m{}", i), rows[i].log_ratio + 0.02, "in_switch"));
    const Residuals residuals(rows);
    const std::vector<Likeness> of{residual("", 0).of, residual("", 0, "in_switch").of};
    const auto draws = residuals.draws(of, 2000, 1);
    std::vector<double> ratio;
    for (std::size_t i = 0; i < 2000; ++i)
        ratio.push_back(draws[1][i] / draws[0][i]);
    const double wide = quantile(draws[0], 0.95) / quantile(draws[0], 0.05);
    const double narrow = quantile(ratio, 0.95) / quantile(ratio, 0.05);
    EXPECT_LT(std::log(narrow), std::log(wide) / 2);
}

TEST(Residuals, ReadsATable) {
    const Residuals residuals = Residuals::parse(
        "kind,operation,algorithm,generation,fabric,bytes,us,ranks,machines,machine,table,log_"
        "ratio,"
        "standing\n"
        "collective,all_reduce,ring,Hopper,switched,65536,0,8,1,hgx_h100,t,-0.25,unseen\n",
        "r.csv");
    ASSERT_EQ(residuals.all().size(), 1U);
    EXPECT_EQ(residuals.all()[0].log_ratio, -0.25);
    EXPECT_EQ(residuals.all()[0].of.bytes, 65536);
    try {
        static_cast<void>(Residuals::parse("kind,operation\na,b\n", "r.csv"));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("r.csv: line 1: has no column algorithm"),
            std::string::npos);
    }
    try {
        static_cast<void>(Residuals::parse(
            "kind,operation,algorithm,generation,fabric,bytes,us,ranks,machines,machine,table,"
            "log_ratio,standing\nk,o,,,,x,0,1,1,m,t,0,unseen\n",
            "r.csv"));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("line 2: bytes is \"x\"; expected a number from 0"),
            std::string::npos);
    }
}

}  // namespace
}  // namespace switchfold::intervals::residuals_test
