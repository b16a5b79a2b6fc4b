// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "sim/output/tests/sample.h"
#include "sim/output/writers.h"

#include <gtest/gtest.h>

#include <limits>

namespace switchfold::result_json_test {
namespace {

OrderedJson written(const ExperimentResult& result) {
    return OrderedJson::parse(to_result_json(result));
}

TEST(ResultJson, HoldsWhatScriptsReadAndInThisOrder) {
    const OrderedJson json = written(sample_result());
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items())
        keys.push_back(key);
    EXPECT_EQ(
        keys, (std::vector<std::string>{
                  "schema", "experiment", "version", "config_digest", "workload", "scenarios",
                  "statistics", "host"}));
    const OrderedJson& ring = json["scenarios"][1];
    for (const char* key :
         {"name", "iteration_us", "forward_us", "backward_us", "exposed_communication_us",
          "waiting_for_late_ranks_us", "exposed_waiting_us", "jumped_us", "backward_slowdown",
          "slowdown_by_cause", "collectives", "links"})
        EXPECT_TRUE(ring.contains(key)) << key;
    EXPECT_EQ(ring["communication_blocks"], OrderedJson(2.25));
    EXPECT_EQ(
        ring["with_ranks_together"], OrderedJson(
                                         {{"iteration_us", 44'000.0},
                                          {"exposed_communication_us", 500.0},
                                          {"backward_slowdown", 0.05}}));
    EXPECT_TRUE(json["scenarios"][0]["with_ranks_together"].is_null());
    EXPECT_EQ(ring["peak_memory"]["rank"], 1);
    EXPECT_EQ(ring["peak_memory"]["time_us"], 12.5);
    EXPECT_EQ(ring["peak_memory"]["pass"], "BW0@0");
    EXPECT_EQ(ring["peak_memory"]["bytes"].size(), kMemoryClasses.size());
    EXPECT_EQ(ring["peak_memory"]["bytes"]["activations"], 4096);
    EXPECT_EQ(ring["peak_memory"]["bytes"]["buckets"], 512);
    EXPECT_TRUE(json["scenarios"][0]["peak_memory"].is_null());
    for (const char* key : {"sm", "l2", "hbm", "latency", "completion", "clock", "other"})
        EXPECT_TRUE(ring["slowdown_by_cause"].contains(key)) << key;
    EXPECT_EQ(
        ring["collectives"][0], OrderedJson(
                                    {{"name", "world all_reduce 0"},
                                     {"algorithm", "ring"},
                                     {"protocol", "simple"},
                                     {"fallback", nullptr},
                                     {"channels", 24},
                                     {"ranks", 8},
                                     {"size_bytes", 1 << 20},
                                     {"start_us", 1.0},
                                     {"ready_us", 2.0},
                                     {"time_us", 40.0},
                                     {"algorithm_bandwidth_GBps", 26.2144},
                                     {"bus_bandwidth_GBps", 45.8752}}));
    EXPECT_EQ(json["host"]["events"], 99);
}

TEST(ResultJson, StatisticsStandAtTheirComponentsAndAreExplainedOnce) {
    const OrderedJson json = written(sample_result());
    EXPECT_EQ(
        json["scenarios"][1]["links"].dump(),
        R"([{"name":"gpu0_to_switch0","wire_bytes":120,"busy_us":1.25,"a_share":0.5}])");
    EXPECT_EQ(
        json["scenarios"][1]["reduction_units"].dump(), R"([{"name":"switch0","reductions":5}])");
    EXPECT_EQ(json["scenarios"][0]["links"], OrderedJson::array());
    EXPECT_EQ(json["statistics"][0]["kind"], "links");
    EXPECT_EQ(
        json["statistics"][0]["values"][1].dump(),
        R"({"name":"busy_us","unit":"us","meaning":"In use."})");
}

TEST(ResultJson, NumbersAreRoundedToWhatTheyMean) {
    const std::string text = to_result_json(sample_result());
    EXPECT_NE(text.find("\"backward_us\": 26231.608313,"), std::string::npos);
    EXPECT_EQ(text.find("-0.0"), std::string::npos);
}

TEST(ResultJson, OnlyHostDiffersBetweenRuns) {
    ExperimentResult other = sample_result();
    other.host = {7.25, 4096, 100};
    OrderedJson a = written(sample_result());
    OrderedJson b = written(other);
    EXPECT_NE(a, b);
    a.erase("host");
    b.erase("host");
    EXPECT_EQ(a.dump(), b.dump());
}

TEST(ResultJson, WhatIsUnknownIsNull) {
    ExperimentResult result = sample_result();
    EXPECT_TRUE(written(result)["workload"]["measured_iteration_us"].is_null());
    EXPECT_TRUE(written(result)["scenarios"][0]["backward_slowdown"].is_null());
    EXPECT_TRUE(written(result)["scenarios"][0]["slowdown_by_cause"].is_null());
    EXPECT_EQ(written(result)["scenarios"][1]["backward_slowdown"], 0.189);
    result.workload.measured_iteration_us = 12.5;
    EXPECT_EQ(written(result)["workload"]["measured_iteration_us"], 12.5);
    result.scenarios[0].iteration_us = std::numeric_limits<double>::quiet_NaN();
    result.scenarios[0].forward_us = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(written(result)["scenarios"][0]["iteration_us"].is_null());
    EXPECT_TRUE(written(result)["scenarios"][0]["forward_us"].is_null());
}

TEST(ResultJson, NamesThatAreNoUtf8StillGiveAResult) {
    ExperimentResult result = sample_result();
    result.experiment = "bad \xff name \"quoted\"";
    EXPECT_EQ(written(result)["experiment"], "bad \xEF\xBF\xBD name \"quoted\"");
}

}  // namespace
}  // namespace switchfold::result_json_test
