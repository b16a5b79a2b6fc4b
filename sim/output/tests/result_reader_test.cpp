// SPDX-License-Identifier: Apache-2.0
#include "sim/output/result_reader.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/output/tests/sample.h"
#include "sim/output/writers.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace switchfold::result_reader_test {
namespace {

class ResultReader : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_);
        write(to_result_json(sample_result()));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write(const std::string& text) const {
        TextFile file(folder_ / "result.json");
        file.write(text);
        file.close();
    }
    [[nodiscard]] Problem problem() const {
        try {
            static_cast<void>(read_result(folder_));
        } catch (const ConfigError& error) {
            return error.problems().at(0);
        }
        return {"", "nothing was thrown", ""};
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() /
        (std::string("switchfold-reader-") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ResultReader, ReadsBackEverythingThatIsWritten) {
    EXPECT_EQ(to_result_json(read_result(folder_)), to_result_json(sample_result()));
}

TEST_F(ResultReader, ReadsIntervalsBackAndNoneOfOldResults) {
    const ExperimentResult sample = sample_with_intervals();
    write(to_result_json(sample));
    const ExperimentResult result = read_result(folder_);
    EXPECT_EQ(result.scenarios[1].intervals, sample.scenarios[1].intervals);
    EXPECT_EQ(result.scenarios[1].intervals.size(), 3U);
    Json json = Json::parse(to_result_json(sample));
    json["scenarios"][1].erase("intervals");
    write(json.dump());
    EXPECT_TRUE(read_result(folder_).scenarios[1].intervals.empty());
    json["scenarios"][1]["intervals"]["iteration_us"] = {{"low", "small"}};
    write(json.dump());
    EXPECT_EQ(problem().pointer, "/scenarios/1/intervals/iteration_us/low");
}

TEST_F(ResultReader, ReadsBackWhatScenariosSet) {
    ExperimentResult result = sample_result();
    result.scenarios[1].set = {{"/workload/bucket", "\"50 MiB\""}, {"/workload/ranks", "2"}};
    result.scenarios[1].workload = result.workload;
    result.scenarios[1].workload->ranks = 2;
    result.scenarios[1].speedup = 1.25;
    write(to_result_json(result));
    const ExperimentResult read = read_result(folder_);
    EXPECT_EQ(to_result_json(read), to_result_json(result));
    EXPECT_EQ(read.scenarios[1].set, result.scenarios[1].set);
    EXPECT_EQ(read.scenarios[1].workload->ranks, 2U);
    EXPECT_FALSE(read.scenarios[0].workload);
}

/// Whichever key is removed, the error points to it.
TEST_F(ResultReader, EveryKeyIsNeeded) {
    const OrderedJson whole = OrderedJson::parse(to_result_json(sample_result()));
    int tried = 0;
    for (const char* at :
         {"", "/workload", "/scenarios/1", "/scenarios/1/slowdown_by_cause",
          "/scenarios/1/causes_by_phase", "/scenarios/1/causes_by_phase/forward",
          "/scenarios/1/with_ranks_together", "/scenarios/1/kernel_classes/0",
          "/scenarios/1/worst_kernels/0", "/scenarios/1/collectives/0", "/scenarios/1/links/0",
          "/scenarios/1/reduction_units/0", "/statistics/0", "/statistics/0/values/1", "/host"}) {
        const OrderedJson::json_pointer pointer{std::string(at)};
        for (const auto& [key, value] : whole[pointer].items()) {
            OrderedJson broken = whole;
            broken[pointer].erase(key);
            write(broken.dump());
            EXPECT_EQ(problem().pointer, at) << key;
            EXPECT_NE(problem().message.find(key), std::string::npos);
            broken[pointer][key] = OrderedJson::array({OrderedJson::object()});
            write(broken.dump());
            EXPECT_EQ(problem().pointer.rfind(std::string(at) + "/" + key, 0), 0U)
                << key << problem().pointer;
            ++tried;
        }
    }
    EXPECT_GT(tried, 50);
}

TEST_F(ResultReader, ANumberThatDoesNotFitIsRefused) {
    OrderedJson json = OrderedJson::parse(to_result_json(sample_result()));
    json["workload"]["ranks"] = 1ULL << 32U;
    write(json.dump());
    EXPECT_EQ(problem().pointer, "/workload/ranks");
    json["workload"]["ranks"] = -1;
    write(json.dump());
    EXPECT_EQ(problem().pointer, "/workload/ranks");
}

TEST_F(ResultReader, AnUnknownUnitIsRefused) {
    OrderedJson json = OrderedJson::parse(to_result_json(sample_result()));
    json["statistics"][0]["values"][1]["unit"] = "furlong";
    write(json.dump());
    EXPECT_EQ(problem().pointer, "/statistics/0/values/1/unit");
}

TEST_F(ResultReader, AnotherSchemaIsRefused) {
    write(R"({"schema": "switchfold-result-0"})");
    EXPECT_EQ(problem().pointer, "/schema");
}

TEST_F(ResultReader, AFolderWithoutAResultIsNoFinishedRun) {
    std::filesystem::remove(folder_ / "result.json");
    EXPECT_EQ(problem().file, folder_.string());
    EXPECT_NE(problem().message.find("finished run"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::result_reader_test
