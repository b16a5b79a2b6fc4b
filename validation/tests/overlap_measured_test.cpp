// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_measured.h"

#include "validation/overlap/contention_data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace switchfold::validation::overlap_measured_test {
namespace {

/// One kernel bound by memory bandwidth and one that is not, each next to an idle mover and next to
/// a moving one. The measured numbers are made up.
constexpr const char* kData = R"({
 "schema": "switchfold/h200-contention/1", "date": "2026-01-01T00:00:00Z", "command": "measure.py",
 "versions": {"gpu": "none: made up for a test"},
 "networks": [{"network": "toy", "unsteady_kernels": 0,
  "kernels": [
   {"name": "elementwise_kernel", "grid": [8192, 1, 1], "block": [256, 1, 1], "registers": 32,
    "shared_bytes": 0, "alone_us": 100.0, "places": 3, "bytes_read": 260000000,
    "bytes_written": 130000000},
   {"name": "gemm", "grid": [264, 1, 1], "block": [256, 1, 1], "registers": 128,
    "shared_bytes": 98304, "alone_us": 200.0, "places": 1}],
  "runs": [
   {"blocks": 8, "threads": 512, "registers_per_thread": 96, "shared_bytes": 81920,
    "static_shared_bytes": 4, "footprint_bytes": 83886080, "requested_bytes_per_second": 1e9,
    "bytes_per_second": 1e9, "slowdown": 1.05, "kernels": [
     {"kernel": 0, "us": 101, "low_us": 100, "high_us": 102, "passes": 5},
     {"kernel": 1, "us": 210, "low_us": 205, "high_us": 215, "passes": 5}]},
   {"blocks": 32, "threads": 512, "registers_per_thread": 96, "shared_bytes": 81920,
    "static_shared_bytes": 4, "footprint_bytes": 134217728, "requested_bytes_per_second": 0,
    "bytes_per_second": 2e12, "slowdown": 1.4, "kernels": [
     {"kernel": 0, "us": 150, "low_us": 145, "high_us": 155, "passes": 5}]}]}]})";

class MeasuredTest : public ::testing::Test {
protected:
    MeasuredTest() { options_.root = SWITCHFOLD_SOURCE_DIR; }
    ~MeasuredTest() override {
        std::error_code ignored;
        std::filesystem::remove(file_, ignored);
    }
    void write(const std::string& text) const { std::ofstream(file_) << text; }
    void write_with(const std::string& from, const std::string& to) const {
        std::string text = kData;
        text.replace(text.find(from), from.size(), to);
        write(text);
    }
    [[nodiscard]] std::string message() {
        try {
            add_measured(file_, options_, suite_);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "no error";
    }
    std::filesystem::path file_ = std::filesystem::temp_directory_path() /
                                  ("contention-" + std::to_string(getpid()) + ".json");
    SuiteOptions options_;
    SuiteResult suite_;
};

TEST_F(MeasuredTest, WithoutDataThereIsANoteAndNoCase) {
    add_measured(file_, options_, suite_);
    EXPECT_TRUE(suite_.cases.empty());
    ASSERT_EQ(suite_.notes.size(), 1U);
    EXPECT_TRUE(suite_.notes[0].starts_with("no data: ")) << suite_.notes[0];
}

TEST_F(MeasuredTest, EverySettingIsACase) {
    write(kData);
    add_measured(file_, options_, suite_);
    ASSERT_EQ(suite_.cases.size(), 2U);
    const Case& waiting = suite_.cases[0];
    EXPECT_EQ(waiting.id, "h200/toy/beside 8 blocks, 1 GB/s");
    EXPECT_EQ(waiting.group, "h200 time-weighted");
    EXPECT_NEAR(waiting.measured, (3 * 101 + 210) / 500.0, 1e-9);
    EXPECT_NEAR(waiting.low.value(), (3 * 100 + 205) / 500.0, 1e-9);
    EXPECT_NEAR(waiting.high.value(), (3 * 102 + 215) / 500.0, 1e-9);
    EXPECT_GE(waiting.simulated, 0.999);
    const Case& moving = suite_.cases[1];
    EXPECT_EQ(moving.id, "h200/toy/beside 32 blocks, unlimited");
    EXPECT_NEAR(moving.measured, 1.5, 1e-9);
    // The kernel's own 3.9 TB/s and the mover's 2 TB/s exceed the 4.8 TB/s of the memory.
    EXPECT_GT(moving.simulated, 1.2);
    EXPECT_LT(waiting.simulated, moving.simulated);
    ASSERT_EQ(suite_.notes.size(), 1U);
    EXPECT_NE(suite_.notes[0].find("3 kernels beside the mover"), std::string::npos);
}

TEST_F(MeasuredTest, WrongDataIsSaidWithItsPlace) {
    write_with("\"kernel\": 1,", "\"kernel\": 7,");
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring,
        "/networks/0/runs/0/kernels/1/kernel: is 7 of 2 kernels; expected the place of one",
        message());
    write_with("[8192, 1, 1]", "[8192, 1]");
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "/networks/0/kernels/0/grid: is [8192, 1]; expected three sizes",
        message());
    write_with("contention/1", "contention/2");
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "expected \"switchfold/h200-contention/1\"", message());
    write_with("\"bytes_written\": 130000000", "\"places\": 3");
    EXPECT_NE(message(), "no error");
    write_with("\"slowdown\": 1.05", "\"slowdwn\": 1.05");
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "did you mean", message());
}

}  // namespace
}  // namespace switchfold::validation::overlap_measured_test
