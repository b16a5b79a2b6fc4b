// SPDX-License-Identifier: Apache-2.0
#include "sim/output/changes_text.h"

#include "core/record_json.h"
#include "sim/output/tests/sample.h"
#include "sim/output/writers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace switchfold::elastic_text_test {
namespace {

ExperimentResult changed() {
    ExperimentResult result = sample_result();
    ChangesResult& run = result.scenarios[0].changes.emplace();
    run.steps = 1234;
    run.end_s = 3600;
    run.samples_per_s = 1000.5;
    run.share_of_training = 0.975;
    ChangeResult& join = run.changes.emplace_back();
    join.method = "join";
    join.cause = "change";
    join.added = {8, 9};
    join.from = 8;
    join.to = 10;
    join.asked_s = 900;
    join.pause_s = 0.0125;
    join.to_size_s = 5.5;
    join.joining = JoiningStepResult{0.13, 0.1, 0.08, 0.0925, 0.0125, false};
    join.phases = {{"start", 1, true, false}};
    ChangeResult& late = run.changes.emplace_back();
    late.method = "leave";
    late.cause = "change";
    late.from = 10;
    late.to = 9;
    late.reached = false;
    run.checkpoint_steps = {{8, 0.16, 0.1, 0.08, 0.125, 0.045, 2.5}};
    run.storage_s = 4.5;
    run.stretches = {{0, 905, 8, "training", 9050, 100'000, 2560}};
    return result;
}

TEST(ChangesText, TheTableHasARowAChangeAndACheckpointStep) {
    const std::string table = changes_table(changed());
    EXPECT_NE(table.find("8 to 10"), std::string::npos) << table;
    EXPECT_NE(table.find("12.5 ms"), std::string::npos) << table;
    EXPECT_NE(table.find("92.5 of 80.0 ms, too long"), std::string::npos) << table;
    EXPECT_NE(table.find("not reached"), std::string::npos) << table;
    for (const char* cell : {"checkpoint step", "160 ms", "125 ms", "45 ms", "2.50 s"})
        EXPECT_NE(table.find(cell), std::string::npos) << cell << table;
    EXPECT_EQ(changes_table(sample_result()), "");
}

TEST(ChangesText, JsonKeepsResultsApart) {
    const OrderedJson run = record_json(*changed().scenarios[0].changes);
    const OrderedJson& join = run["changes"][0];
    EXPECT_EQ(join["pause_s"], 0.0125);
    EXPECT_EQ(join["time_to_size_s"], 5.5);
    EXPECT_EQ(join["joining_step"]["fits"], false);
    EXPECT_EQ(join["phases"][0]["beside_training"], true);
    EXPECT_TRUE(run["changes"][1]["joining_step"].is_null());
    EXPECT_EQ(run["stretches"][0]["members"], 8);
    EXPECT_EQ(run["checkpoint_steps"][0]["written_s"], 2.5);
    EXPECT_EQ(run["checkpoint_steps"][0]["step_alone_s"], 0.1);
    EXPECT_EQ(run["checkpoints_waited_for_storage_s"], 4.5);
    EXPECT_NE(
        to_result_json(changed()).find("\"share_of_time_training\": 0.975"), std::string::npos);
}

TEST(ChangesText, TablesHaveAsManyFieldsAsTheirHeaders) {
    const auto commas = [](const std::string& line) {
        return std::count(line.begin(), line.end(), ',');
    };
    const ChangesResult run = *changed().scenarios[0].changes;
    for (const ChangeResult& change : run.changes)
        EXPECT_EQ(commas(changes_csv_line("a", change)), commas(changes_csv_header()));
    EXPECT_EQ(commas(members_csv_line("a", run.stretches[0])), commas(members_csv_header()));
}

}  // namespace
}  // namespace switchfold::elastic_text_test
