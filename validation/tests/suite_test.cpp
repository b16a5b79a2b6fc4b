// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/suite.h"

#include "core/json.h"
#include "core/tests/temporary_folder.h"
#include "validation/harness/suite_jobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace switchfold::validation::suite_test {
namespace {

Case make(const char* group, double measured, double simulated, bool fitted = false) {
    Case c;
    c.id = std::string(group) + "/1/x" + std::to_string(simulated);
    c.group = group;
    c.quantity = "time";
    c.unit = "us";
    c.measured = measured;
    c.simulated = simulated;
    c.fitted = fitted;
    return c;
}

SuiteResult sample() {
    SuiteResult result;
    result.name = "collectives";
    result.cases = {make("b", 10, 11), make("a", 10, 8, true), make("b", 10, 7)};
    result.cases[0].low = 9;
    result.cases[0].high = 12;
    result.unmatched = {{"c/1/x", "no system"}, {"c/2/x", "no system"}};
    return result;
}

std::set<std::string> keys(const Json& object) {
    std::set<std::string> out;
    for (const auto& [key, value] : object.items())
        out.insert(key);
    return out;
}

TEST(Suite, LongJobsRunFirstAndNumbersKeepTheirOrder) {
    const TemporaryFolder folder;
    const auto log = folder.path() / "log";
    std::vector<Job> jobs;
    for (const double work : {1.0, 3.0, 2.0})
        jobs.push_back(
            {"job",
             [&log, work](const JobProgress&) {
                 std::ofstream(log, std::ios::app) << work;
                 return value_bytes(work);
             },
             work});
    EXPECT_EQ(values_of_suite<double>(jobs, SuiteOptions()), (std::vector<double>{1, 3, 2}));
    std::string ran;
    std::ifstream(log) >> ran;
    EXPECT_EQ(ran, "321");
}

TEST(Suite, MeanErrorsOfGroupsInTheirOrder) {
    const auto groups = summarise_groups(sample().cases);
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].name, "b");
    EXPECT_NEAR(groups[0].mape, 0.2, 1e-12);
    EXPECT_EQ(groups[0].cases, 2U);
    EXPECT_FALSE(groups[0].fitted);
    EXPECT_TRUE(groups[1].fitted);
    EXPECT_NEAR(mape(sample().cases), 0.2, 1e-12);
}

TEST(Suite, JsonHasTheKeysOfTheContractAndNoOthers) {
    const std::vector<SuiteResult> results{sample()};
    const Json json = Json::parse(to_json(results));
    EXPECT_EQ(keys(json), (std::set<std::string>{"suites"}));
    const Json& suite = json["suites"][0];
    EXPECT_EQ(
        keys(suite),
        (std::set<std::string>{"name", "mape", "cases", "groups", "verdicts", "unmatched"}));
    EXPECT_EQ(
        keys(suite["cases"][0]), (std::set<std::string>{
                                     "id", "group", "quantity", "unit", "measured", "low", "high",
                                     "simulated", "error", "fitted"}));
    EXPECT_EQ(keys(suite["groups"][0]), (std::set<std::string>{"name", "mape", "cases"}));
    EXPECT_EQ(keys(suite["unmatched"][0]), (std::set<std::string>{"id", "why"}));
    EXPECT_EQ(suite["cases"][0]["error"], 0.1);
    EXPECT_EQ(suite["cases"][2]["error"], -0.3);
    EXPECT_EQ(suite["cases"][0]["low"], 9.0);
    EXPECT_TRUE(suite["cases"][1]["low"].is_null());
    EXPECT_EQ(suite["cases"][1]["fitted"], true);
    EXPECT_EQ(suite["groups"][1]["cases"], 1);
}

TEST(Suite, JsonSaysWhatIsLikeACaseOfAKind) {
    std::vector<SuiteResult> results{sample()};
    Case& c = results[0].cases[0];
    c.like = {"collective", "all_reduce", "ring", "Hopper", "switched", 65536, 0, 8, 1};
    c.machine = "HGX H100";
    const Json json = Json::parse(to_json(results));
    const Json& like = json["suites"][0]["cases"][0]["like"];
    EXPECT_EQ(
        keys(like), (std::set<std::string>{
                        "kind", "operation", "algorithm", "generation", "fabric", "bytes", "us",
                        "ranks", "machines", "machine", "log_ratio"}));
    EXPECT_EQ(like["machine"], "HGX H100");
    EXPECT_NEAR(like["log_ratio"].get<double>(), std::log(10.0 / 11.0), 1e-8);
    EXPECT_FALSE(json["suites"][0]["cases"][1].contains("like"));
}

TEST(Suite, ResidualsAreOfTimes) {
    Case c = make("a", 10, 8);
    EXPECT_EQ(log_ratio_of(c), std::nullopt);  // of no kind
    c.like.kind = "step";
    EXPECT_DOUBLE_EQ(log_ratio_of(c).value(), std::log(10.0 / 8));
    c.unit = "GB/s";
    EXPECT_DOUBLE_EQ(log_ratio_of(c).value(), std::log(8.0 / 10));
    c.unit = "1";
    c.quantity = "speed-up over one GPU";
    EXPECT_DOUBLE_EQ(log_ratio_of(c).value(), std::log(8.0 / 10));
    c.simulated = 0;
    EXPECT_EQ(log_ratio_of(c), std::nullopt);
}

TEST(Suite, ResidualsOfSlowdownsAreOfTheLostShare) {
    Case c = make("a", 1.30, 1.20);
    c.nothing = 1;
    c.like.kind = "overlap";
    EXPECT_NEAR(log_ratio_of(c).value(), std::log(0.31 / 0.21), 1e-9);
    c.simulated = 1;  // none, where there is one
    EXPECT_NEAR(log_ratio_of(c).value(), std::log(0.31 / 0.01), 1e-9);
    c.measured = 0.98;  // noise
    EXPECT_NEAR(log_ratio_of(c).value(), 0, 1e-9);
    c.measured = 1.02;
    c.low = 0.99;
    c.high = 1.05;
    EXPECT_EQ(log_ratio_of(c), std::nullopt);  // may be none
}

TEST(Suite, ExitCodesSayWhetherPromisesAreKept) {
    std::vector<SuiteResult> results{sample()};
    EXPECT_EQ(exit_code_of(results), ExitCode::kDone);
    results[0].verdicts = {{"all", 0.2, 0.2}};
    EXPECT_EQ(exit_code_of(results), ExitCode::kDone);
    results[0].verdicts.push_back({"table b", 0.31, 0.3});
    EXPECT_EQ(exit_code_of(results), ExitCode::kOutOfTolerance);
    results[0] = SuiteResult{};
    EXPECT_EQ(exit_code_of(results), ExitCode::kOutOfTolerance);  // nothing was compared
}

TEST(Suite, TextShowsFittedGroupsApartAndSaysWhatWasNotCompared) {
    SuiteResult result = sample();
    result.verdicts = {{"table b", 0.31, 0.3}};
    const std::string text = to_text(result);
    const auto never = text.find("groups never used for fitting");
    const auto fitted = text.find("groups that parameters were fitted on");
    ASSERT_NE(never, std::string::npos);
    ASSERT_NE(fitted, std::string::npos);
    EXPECT_NE(text.substr(never, fitted - never).find("\nb "), std::string::npos) << text;
    EXPECT_EQ(text.substr(never, fitted - never).find("\na "), std::string::npos) << text;
    EXPECT_NE(text.find("mean absolute error over all: 20.0 % of 3 cases"), std::string::npos);
    EXPECT_NE(text.find("OUT OF TOLERANCE: table b 31.0 %, at most 30.0 %"), std::string::npos);
    EXPECT_NE(text.find("not compared: 2\n  c (2 rows): no system\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace switchfold::validation::suite_test
