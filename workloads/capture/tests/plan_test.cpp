// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/front/plan.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

namespace switchfold::capture::plan_test {
namespace {

class PlanTest : public ::testing::Test {
protected:
    void make(const std::filesystem::path& name) const {
        std::filesystem::create_directories((folder_.path() / name).parent_path());
        std::ofstream(folder_.path() / name) << "x";
    }
    void make_libraries() const {
        make(kLibrary);
        make(kCuptiLibrary);
    }
    [[nodiscard]] Environment environment() const {
        return [this](const std::string& name) -> std::optional<std::string> {
            const auto found = variables_.find(name);
            return found == variables_.end() ? std::nullopt : std::optional(found->second);
        };
    }
    [[nodiscard]] std::map<std::string, std::string> plan(bool counters = false) const {
        const Variables made = capture_variables(options_, folder_.path(), environment(), counters);
        return {made.begin(), made.end()};
    }
    [[nodiscard]] std::string message() const {
        try {
            (void)plan();
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "no error";
    }
    TemporaryFolder folder_;
    FrontOptions options_;
    std::map<std::string, std::string> variables_;
};

TEST_F(PlanTest, CudaNvtxAndNcclLoadTheSameLibrary) {
    make_libraries();
    options_.out = "runs/../captures";
    const auto made = plan();
    const std::string library = (folder_.path() / kLibrary).string();
    EXPECT_EQ(made.at("CUDA_INJECTION64_PATH"), library);
    EXPECT_EQ(made.at("NVTX_INJECTION64_PATH"), library);
    EXPECT_EQ(made.at("NCCL_PROFILER_PLUGIN"), library);
    EXPECT_EQ(made.at(kDirectoryVariable), (std::filesystem::current_path() / "captures").string());
    EXPECT_EQ(made.at(kCountersVariable), "0");
    EXPECT_EQ(plan(true).at(kCountersVariable), "1");
}

TEST_F(PlanTest, NcclAloneNeedsNoCupti) {
    make(kLibrary);
    options_.nccl_only = true;
    const auto made = plan();
    EXPECT_EQ(made.count("CUDA_INJECTION64_PATH"), 0U);
    EXPECT_EQ(made.count("NCCL_PROFILER_PLUGIN"), 1U);
}

TEST_F(PlanTest, MissingLibrariesAreSaid) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "expected the capture library", message());
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "--nccl-only records without it", message());
}

TEST_F(PlanTest, AnotherProfilerIsSaid) {
    make_libraries();
    variables_["CUDA_INJECTION64_PATH"] = "/opt/nsys/inject.so";
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring,
        "CUDA_INJECTION64_PATH: is /opt/nsys/inject.so already; expected it unset", message());
}

TEST_F(PlanTest, CuptiIsFoundWhereTheEnvironmentSays) {
    make("toolkit/extras/CUPTI/lib64/libcupti.so");
    make("libraries/libcupti.so");
    variables_["CUDA_HOME"] = (folder_.path() / "toolkit").string();
    EXPECT_EQ(
        find_cupti({}, environment()), folder_.path() / "toolkit/extras/CUPTI/lib64/libcupti.so");
    variables_["LD_LIBRARY_PATH"] = "/nowhere::" + (folder_.path() / "libraries").string();
    EXPECT_EQ(find_cupti({}, environment()), folder_.path() / "libraries/libcupti.so");
    const std::filesystem::path given = folder_.path() / "toolkit/extras/CUPTI/lib64/libcupti.so";
    EXPECT_EQ(find_cupti(given, environment()), given);
}

TEST_F(PlanTest, AWrongCuptiIsSaid) {
    make_libraries();
    options_.cupti = "/nowhere/libcupti.so";
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "--cupti: is not a file; expected libcupti.so.13", message());
}

TEST_F(PlanTest, OldCapturesAreNotMixedWithNewOnes) {
    prepare_output(folder_.path() / "new/one");
    EXPECT_TRUE(captures_in(folder_.path() / "new/one").empty());
    make("old/rank1.sfcapture");
    make("old/rank0.sfcapture");
    make("old/log.txt");
    EXPECT_EQ(captures_in(folder_.path() / "old").size(), 2U);
    try {
        prepare_output(folder_.path() / "old");
        FAIL() << "no error";
    } catch (const ConfigError& error) {
        EXPECT_PRED_FORMAT2(::testing::IsSubstring, "holds rank0.sfcapture already", error.what());
    }
}

}  // namespace
}  // namespace switchfold::capture::plan_test
