// SPDX-License-Identifier: Apache-2.0
#include "sim/results/explorer_files.h"

#include "core/csv.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include <unistd.h>

namespace switchfold::explorer_files_test {
namespace {

class ExplorerFiles : public testing::Test {
protected:
    ~ExplorerFiles() override { std::filesystem::remove_all(folder_); }

    void run(const char* json) {
        RunOptions options;
        options.jobs = 2;
        options.out = folder_;
        const LoadedExperiment loaded = load(json);
        result_ = run_experiment(loaded, options);
        options.out.reset();
        bare_ = run_experiment(loaded, options);
    }
    static LoadedExperiment load(const char* json) {
        return load_experiment(Json::parse(json), SWITCHFOLD_SOURCE_DIR "/explored.json", {});
    }
    static std::string text_of(ExperimentResult result) {
        result.host = {};
        return to_result_json(result);
    }
    /// Mean load over the run by link, from links.json.
    std::map<std::string, double> means(std::size_t scenario) const {
        const Json file = load_json(folder_ / "links.json");
        const Json& links = file.at("machines").at(0).at("links");
        const Json& loads = file.at("scenarios").at(scenario);
        std::map<std::string, double> found;
        for (const auto& [link, bins] : loads.at("load").items()) {
            double sum = 0;
            for (const Json& bin : bins) {
                EXPECT_LE(bin.get<double>(), 1000);
                sum += bin.get<double>() / 1000;
            }
            found[links.at(std::stoul(link)).at("name").get<std::string>()] =
                sum * loads.at("bin_us").get<double>() / loads.at("end_us").get<double>();
        }
        return found;
    }
    /// Loads over time are those that the result has of the whole run.
    void expect_loads_of_the_result() const {
        for (std::size_t i = 0; i < result_.scenarios.size(); ++i) {
            const std::map<std::string, double> mean = means(i);
            const Json scenario = Json::parse(to_result_json(result_)).at("scenarios").at(i);
            std::size_t used = 0;
            for (const Json& link : scenario.at("links")) {
                const double whole = link.at("utilization").get<double>();
                const auto found = mean.find(link.at("name").get<std::string>());
                used += whole > 0 ? 1 : 0;
                EXPECT_NEAR(found == mean.end() ? 0 : found->second, whole, 0.01 * whole + 1e-3)
                    << link.at("name");
            }
            EXPECT_GT(used, 0U);
        }
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_explorer_{}", getpid());
    ExperimentResult result_;
    ExperimentResult bare_;
};

TEST_F(ExplorerFiles, RepetitionsThatAreSkippedAreInTheLoads) {
    run(R"({"name": "x", "system": "configs/systems/hgx_b200.json",
            "workload": {"type": "collective", "size": "256 MiB", "ranks": 4},
            "scenarios": [{"name": "in_switch", "all_reduce": {"algorithm": "in_switch"}}]})");
    EXPECT_GT(result_.scenarios.front().jumped_us, 0);
    expect_loads_of_the_result();
    EXPECT_EQ(text_of(result_), text_of(bare_));
}

TEST_F(ExplorerFiles, CollectivesThatPassAsEarlierOnesAreInTheLoadsWhereTheyPassed) {
    run(R"({"name": "x", "system": "configs/systems/hgx_h100.json", "causes": false,
            "workload": {"type": "trace", "files": ["configs/examples/resnet50_ddp_synthetic.json.gz"],
                         "ranks": 8},
            "scenarios": [{"name": "serial", "overlap": false}]})");
    expect_loads_of_the_result();
    EXPECT_EQ(text_of(result_), text_of(bare_));
    // Each link moves something while collectives run, in every one of them.
    const Json loads = load_json(folder_ / "links.json").at("scenarios").at(0);
    const double bin_us = loads.at("bin_us").get<double>();
    for (const CollectiveResult& collective : result_.scenarios.front().collectives) {
        const double middle = collective.ready_us + collective.time_us / 2;
        const auto bin = static_cast<std::size_t>(middle / bin_us);
        for (const auto& [link, bins] : loads.at("load").items())
            EXPECT_GT(bins.at(bin).get<double>(), 0) << collective.name << " on link " << link;
    }
}

TEST_F(ExplorerFiles, BinsAreFewWhereNothingMovesForLong) {
    run(R"({"name": "x", "system": "configs/systems/dgx_a100.json", "causes": false,
            "workload": {"type": "training", "network": "gpt2_medium",
                         "plan": {"micro_batch": 4}},
            "scenarios": [{"name": "one"}]})");
    const Json loads = load_json(folder_ / "links.json").at("scenarios").at(0);
    constexpr double kMostBins = 128;
    EXPECT_GE(kMostBins * loads.at("bin_us").get<double>(), loads.at("end_us").get<double>());
}

TEST_F(ExplorerFiles, FoldedRanksHaveTheLoadsOfThoseThatStandForThem) {
    run(R"({"name": "x", "system": "configs/systems/gb200_nvl72.json",
            "workload": {"type": "collective", "size": "256 MiB", "ranks": 72},
            "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]})");
    EXPECT_GT(result_.scenarios.front().folded_ranks, 0);
    expect_loads_of_the_result();
}

TEST_F(ExplorerFiles, EveryRanksCommunicationIsListed) {
    run(R"({"name": "x", "system": "configs/systems/hgx_h100.json",
            "workload": {"type": "collective", "size": "1 MiB", "ranks": 8},
            "scenarios": [{"name": "a, b", "all_reduce": {"algorithm": "ring"}}]})");
    const CsvTable table = read_csv(folder_ / "communication.csv");
    ASSERT_EQ(table.records.size(), 8U);
    for (const CsvRecord& row : table.records) {
        EXPECT_EQ(row["scenario"], "a, b");
        EXPECT_EQ(row["kind"], "collective");
        EXPECT_EQ(row["bytes"], "1048576");
        EXPECT_GT(std::stod(row["duration_us"]), 0);
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "causes.csv"));
}

}  // namespace
}  // namespace switchfold::explorer_files_test
