// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/database.h"

#include "core/byte_codec.h"
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "sim/output/figures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace switchfold::database_test {
namespace {

namespace fs = std::filesystem;

class Database : public ::testing::Test {
protected:
    void SetUp() override {
        plan_.name = "s";
        plan_.axes = {
            {"size", {"/workload/size"}, {{{"1 KiB"}, "1 KiB", measure_of("1 KiB")}}},
            {"odd \"name\"", {"/x", "/y"}, {{{"a", 1}, "a", {}}, {{"b", 2}, "b, too", {}}}}};
        plan_.points = {{{0, 0}, "d0"}, {{0, 1}, "d1"}};
    }

    static RunRecord run(const std::string& digest) {
        RunRecord record;
        record.digest = digest;
        record.machine = "box";
        record.scenarios.resize(2);
        record.scenarios[0].name = "one";
        record.scenarios[0].iteration_us = 1.5;
        record.scenarios[1].name = "two";
        record.scenarios[1].causes = SlowdownByCause{1, 2, 3, 4, 5, 6, 7};
        record.scenarios[1].forward_causes = SlowdownByCause{0.5, 2, 3, 4, 5, 6, 7};
        CollectiveResult& collective = record.scenarios[1].collective.emplace();
        collective.algorithm = "ring";
        collective.protocol = "ll";
        collective.channels = 3;
        collective.ranks = 8;
        collective.size_bytes = 1024;
        collective.time_us = 2.5;
        collective.algorithm_bandwidth_GBps = 0.4;
        collective.bus_bandwidth_GBps = 0.7;
        record.host = {"here", 0.5, 1000};
        return record;
    }
    static RunRecord failure(const std::string& digest) {
        RunRecord record;
        record.digest = digest;
        record.exit_code = 3;
        record.error = "stuck";
        return record;
    }
    std::string csv(SweepDatabase& database) {
        database.flush();
        database.write_csv(folder_ / "results.csv");
        std::stringstream text;
        text << std::ifstream(folder_ / "results.csv").rdbuf();
        return text.str();
    }

    TemporaryFolder holder_;
    fs::path folder_ = holder_.path();
    SweepPlan plan_;
};

TEST_F(Database, KeepsRunsOverItsEnd) {
    {
        SweepDatabase database(folder_ / "a.db", plan_);
        EXPECT_TRUE(database.done().empty());
        database.record(run("d1"));
        database.record(failure("d0"));
        database.flush();
    }
    SweepDatabase again(folder_ / "a.db", plan_);
    EXPECT_EQ(again.done(), std::set<std::string>{"d1"});
    EXPECT_EQ(again.count().failed, 1U);
    ASSERT_EQ(again.failures(5).size(), 1U);
    EXPECT_EQ(again.failures(5)[0].first, "size=1 KiB, odd \"name\"=a");
    EXPECT_EQ(again.failures(5)[0].second, "stuck");
    again.record(run("d0"));
    EXPECT_EQ(again.count().done, 2U);
    EXPECT_EQ(again.count().failed, 0U);
}

TEST_F(Database, WithoutFlushNothingIsHalfThere) {
    { SweepDatabase(folder_ / "a.db", plan_).record(run("d1")); }
    EXPECT_TRUE(SweepDatabase(folder_ / "a.db", plan_).done().empty());
}

TEST_F(Database, ResultsNameAxesAndQuoteWhatNeedsIt) {
    SweepDatabase database(folder_ / "a.db", plan_);
    database.record(run("d1"));
    std::stringstream text(csv(database));
    std::string line;
    std::getline(text, line);
    EXPECT_TRUE(line.starts_with(
        "point,digest,size,size_number,\"odd \"\"name\"\"\",status,exit_code,error,scenario"))
        << line;
    std::getline(text, line);
    EXPECT_TRUE(line.starts_with("0,d0,1 KiB,1024.0,a,,,,")) << line;
    std::getline(text, line);
    EXPECT_TRUE(line.starts_with("1,d1,1 KiB,1024.0,\"b, too\",done,0,,one,1,1.5,")) << line;
    std::getline(text, line);
    EXPECT_TRUE(line.ends_with(",ring,ll,,3,8,1024,2.5,0.4,0.7,box")) << line;
}

TEST_F(Database, CausesOfEveryPhaseAreColumns) {
    SweepDatabase database(folder_ / "a.db", plan_);
    database.record(run("d1"));
    database.flush();
    Sqlite file(folder_ / "a.db", Sqlite::Mode::kRead);
    Statement read(
        file, "SELECT cause_sm, forward_cause_sm, optimizer_cause_sm FROM results WHERE scenario = "
              "'two'");
    ASSERT_TRUE(read.step());
    EXPECT_EQ(read.text(0), "1.0");
    EXPECT_EQ(read.text(1), "0.5");
    EXPECT_TRUE(read.is_null(2));
}

TEST_F(Database, IntervalsAreColumns) {
    RunRecord record = run("d1");
    record.scenarios[0].intervals["iteration_us"] = {1.25, 1.75, true, "3 measured steps"};
    record.scenarios[0].intervals["speedup"] = {{}, {}, false, "unmeasured"};
    record.scenarios[1].collective->intervals["time_us"] = {2.0, 3.0, true, ""};
    SweepDatabase database(folder_ / "a.db", plan_);
    database.record(value_of_bytes<RunRecord>(value_bytes(record)));  // as from a worker
    database.flush();
    Sqlite file(folder_ / "a.db", Sqlite::Mode::kRead);
    Statement read(
        file,
        "SELECT iteration_us_at_least, iteration_us_at_most, intervals_like, speedup_at_least,"
        " time_us_at_least, time_us_at_most FROM results WHERE status = 'done'"
        " ORDER BY scenario");
    ASSERT_TRUE(read.step());
    EXPECT_EQ(read.text(0), "1.25");
    EXPECT_EQ(read.text(1), "1.75");
    EXPECT_EQ(read.text(2), "3 measured steps");
    EXPECT_TRUE(read.is_null(3));
    EXPECT_TRUE(read.is_null(4));
    ASSERT_TRUE(read.step());
    EXPECT_TRUE(read.is_null(0));
    EXPECT_EQ(read.text(4), "2.0");
    EXPECT_EQ(read.text(5), "3.0");
}

TEST_F(Database, AChangedSweepKeepsWhatItStillNeeds) {
    {
        SweepDatabase database(folder_ / "a.db", plan_);
        database.record(run("d1"));
        database.flush();
    }
    plan_.points.push_back({{0, 1}, "d2"});
    SweepDatabase database(folder_ / "a.db", plan_);
    EXPECT_EQ(database.done(), std::set<std::string>{"d1"});
    EXPECT_EQ(database.count().points, 3U);
}

TEST_F(Database, TakesOverPartsAndPrefersWhatEndedWell) {
    SweepDatabase database(folder_ / "a.db", plan_);
    database.record(failure("d0"));
    {
        SweepDatabase part(folder_ / "b.db", plan_);
        part.record(run("d0"));
        part.record(failure("d1"));
        part.flush();
    }
    EXPECT_EQ(database.merge(folder_ / "b.db"), 2U);
    EXPECT_EQ(database.merge(folder_ / "b.db"), 0U);
    { Sqlite(folder_ / "empty.db", Sqlite::Mode::kWrite).run("CREATE TABLE other(x)"); }
    EXPECT_EQ(database.merge(folder_ / "empty.db"), 0U);
    EXPECT_EQ(database.done(), std::set<std::string>{"d0"});
    EXPECT_EQ(database.count().failed, 1U);
    EXPECT_EQ(database.ended().size(), 2U);
    database.forget_failed();
    EXPECT_EQ(database.ended(), std::set<std::string>{"d0"});
}

TEST_F(Database, RefusesWhatIsNotItsOwn) {
    { SweepDatabase database(folder_ / "a.db", plan_); }
    plan_.name = "other";
    EXPECT_THROW(SweepDatabase(folder_ / "a.db", plan_), ConfigError);
    std::ofstream(folder_ / "text.db") << std::string(5000, 'x');
    EXPECT_THROW(SweepDatabase(folder_ / "text.db", plan_), ConfigError);
    EXPECT_THROW(SweepDatabase(folder_ / "no/such/folder.db", plan_), IoError);
}

/// The first tables of runs are of these figures: a sweep's rows have the numbers of a run's.
TEST(Records, HaveEveryFigureOfAScenario) {
    ExperimentResult result;
    ScenarioResult& s = result.scenarios.emplace_back();
    double value = 1.5;
    for (const Figure& figure : kFigures)
        figure.set(s, value++);
    const RunRecord back = value_of_bytes<RunRecord>(value_bytes(record_of(result)));
    ASSERT_EQ(back.scenarios.size(), 1U);
    for (const Figure& figure : kFigures)
        EXPECT_EQ(figure.of(back.scenarios[0]), figure.of(s)) << figure.key;
}

TEST(Records, WhatGoesInComesOut) {
    RunRecord record;
    record.digest = "d";
    record.error = "line\nline";
    record.machine = "box";
    record.exit_code = 3;
    record.scenarios.resize(1);
    record.scenarios[0].name = "s";
    record.scenarios[0].backward_slowdown = 0.1;
    record.scenarios[0].events = UINT64_MAX;
    CollectiveResult& collective = record.scenarios[0].collective.emplace();
    collective.algorithm = "ring";
    collective.channels = 3;
    collective.fallback = "refused";
    collective.intervals["time_us"] = {1.5, {}, true, "like"};
    const RunRecord back = value_of_bytes<RunRecord>(value_bytes(record));
    EXPECT_EQ(value_bytes(back), value_bytes(record));
    EXPECT_EQ(back.machine, "box");
    EXPECT_EQ(back.scenarios[0].collective->fallback, "refused");
    EXPECT_EQ(back.scenarios[0].collective->intervals, collective.intervals);
    EXPECT_EQ(*back.scenarios[0].backward_slowdown, 0.1);
    EXPECT_THROW(
        static_cast<void>(value_of_bytes<RunRecord>(value_bytes(record).substr(0, 9))),
        InternalError);
}

}  // namespace
}  // namespace switchfold::database_test
