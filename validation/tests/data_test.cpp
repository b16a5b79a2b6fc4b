// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/data.h"

#include "core/csv.h"
#include "validation/collectives/collective_tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include <unistd.h>

namespace switchfold::validation::data_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRepository = SWITCHFOLD_SOURCE_DIR;
const fs::path kTable = "reference/nccl_allreduce.csv";

class Data : public ::testing::Test {
protected:
    Data() {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        options_.root = folder_ / "repository";
    }
    ~Data() override { fs::remove_all(folder_); }
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;
    Data(Data&&) = delete;
    Data& operator=(Data&&) = delete;

    fs::path write(const fs::path& name) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << "some rows\n";
        return folder_ / name;
    }
    [[nodiscard]] std::optional<fs::path> collectives() const {
        return data_of(suite_named("collectives"), options_);
    }
    void refused(const fs::path& path, const std::string& says) const {
        try {
            static_cast<void>(collectives());
            FAIL();
        } catch (const ConfigError& error) {
            EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    }

    fs::path folder_ = fs::temp_directory_path() / fmt::format("switchfold_data_{}", getpid());
    SuiteOptions options_;
};

TEST_F(Data, WhatTheUserNamesComesBeforeTheVariableAndThatBeforeTheRepository) {
    EXPECT_FALSE(collectives());
    const fs::path shipped = write("repository" / fs::path(kShippedData) / kTable);
    EXPECT_EQ(collectives(), shipped);
    const fs::path all = write("all" / kTable);
    options_.measurements = folder_ / "all";
    EXPECT_EQ(collectives(), all);
    const fs::path own = write("own.csv");
    options_.data = own;
    EXPECT_EQ(collectives(), own);
    const fs::path given = write("given" / kTable);
    options_.data = folder_ / "given";
    EXPECT_EQ(collectives(), given);
}

TEST_F(Data, AFolderWithAPartOfTheMeasurementsIsFilledUpFromTheRepository) {
    const fs::path shipped = write("repository" / fs::path(kShippedData) / kTable);
    write("all/traces/a_run/rank0.json");
    options_.measurements = folder_ / "all";
    EXPECT_EQ(collectives(), shipped);
    EXPECT_EQ(data_of(suite_named("replay"), options_), folder_ / "all/traces");
    options_.data = folder_ / "all/traces";
    EXPECT_EQ(data_of(suite_named("replay"), options_), folder_ / "all/traces");
}

TEST_F(Data, WhatWasNamedAndIsNotThereIsRefused) {
    write("repository" / fs::path(kShippedData) / kTable);
    options_.data = folder_ / "none.csv";
    refused(*options_.data, "does not exist; expected the file that suite collectives reads");
    options_.data = folder_;
    EXPECT_EQ(collectives(), folder_) << "of logs, it may be";
    EXPECT_THROW(static_cast<void>(data_of(suite_named("low_sm"), options_)), ConfigError)
        << "one file is expected there";
    options_.data.reset();
    options_.measurements = folder_ / "none";
    refused(options_.measurements, "does not exist; expected a folder of measurements");
}

TEST_F(Data, ASuiteWithoutDataIsSkippedAndNoFailure) {
    const SuiteResult result = suite_named("replay").run(options_);
    EXPECT_EQ(result.name, "replay");
    EXPECT_TRUE(result.cases.empty());
    ASSERT_EQ(result.unmatched.size(), 1U);
    EXPECT_EQ(result.unmatched[0].why.find("skipped: no data: traces"), 0U);
    const std::vector<SuiteResult> results{result};
    EXPECT_EQ(exit_code_of(results), ExitCode::kDone);
    EXPECT_EQ(to_text(result).find("replay\n\nskipped: no data: traces is not part of"), 0U);
    EXPECT_NE(to_text(result).find("SWITCHFOLD_DATA"), std::string::npos);
}

TEST(ShippedData, NoSuiteReadsBesideTheRepository) {
    for (const Suite& suite : suites())
        EXPECT_NE(fs::path(suite.data).begin()->string(), "..") << suite.name;
}

TEST(ShippedData, EveryRowOfATableNamesAPublicSource) {
    for (const char* table :
         {"nccl_allreduce.csv", "published_overlap.csv", "hopper_contention.csv",
          "experiments/collectives_of_issues.csv", "experiments/products_of_8_bits.csv",
          "experiments/steps_in_8_bits.csv", "experiments/steps_on_b200.csv"}) {
        const CsvTable csv = read_csv(kRepository / kShippedData / "reference" / table);
        ASSERT_TRUE(csv.has("source")) << table;
        EXPECT_GE(csv.records.size(), 4U) << table;
        for (const CsvRecord& record : csv.records)
            EXPECT_EQ(record["source"].find("https://"), 0U) << table << " line " << record.line;
    }
}

TEST(ShippedData, TheTableOfAllReducesCanBeReadAndHoldsMachinesOfManyKinds) {
    const auto rows = read_collective_tables(kRepository / kShippedData / kTable);
    std::set<std::string> gpus;
    for (const MeasuredRow& row : rows)
        gpus.insert(row.gpu);
    EXPECT_GE(rows.size(), 200U);
    for (const char* gpu : {"NVIDIA H100", "NVIDIA H200", "NVIDIA B200", "AMD Instinct MI300X"})
        EXPECT_TRUE(gpus.contains(gpu)) << gpu;
}

}  // namespace
}  // namespace switchfold::validation::data_test
