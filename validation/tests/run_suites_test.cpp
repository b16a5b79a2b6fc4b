// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "validation/harness/suite.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace switchfold::validation::run_suites_test {
namespace {

SuiteResult run(const char* suite, const std::filesystem::path& data) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.data = data;
    options.jobs = 2;
    return suite_named(suite).run(options);
}

TEST(CollectivesSuite, ComparesEveryRowOfATable) {
    const SuiteResult result =
        run("collectives", SWITCHFOLD_SOURCE_DIR "/validation/tests/synthetic_allreduce.csv");
    ASSERT_EQ(result.cases.size(), 6U);
    EXPECT_EQ(result.cases[0].id, "made_up_h100/4096/out-of-place");
    EXPECT_EQ(result.cases[1].id, "made_up_h100/4096/in-place");
    EXPECT_EQ(result.cases[0].simulated, result.cases[1].simulated);
    EXPECT_GT(result.cases[0].simulated, 1.0);
    EXPECT_LT(result.cases[0].simulated, 200.0);
    EXPECT_NEAR(result.cases[2].measured, 8192 * 1.5 / 600, 1e-9);
    EXPECT_TRUE(result.cases[2].low && result.cases[2].high);
    const Case& ratio = result.cases[5];
    EXPECT_EQ(ratio.quantity, "bandwidth ratio");
    EXPECT_NEAR(ratio.measured, 1.2, 1e-9);
    EXPECT_NEAR(ratio.simulated, result.cases[4].simulated / result.cases[3].simulated, 1e-9);
    ASSERT_EQ(result.unmatched.size(), 1U);
    EXPECT_EQ(result.unmatched[0].id, "made_up_unknown/1024/");
    EXPECT_GE(result.verdicts.size(), 2U);
}

/// nccl-tests runs broadcasts and reduces into each other: the chain of ranks stays full, so that
/// an iteration takes what its bytes take a link. A ring's all-reduce passes each byte 2 (n - 1) /
/// n times over it, 1.75 times on 8 GPUs, so a chain takes 0.57 of its time by bytes alone. One
/// chain by itself fills first, hop by hop, and takes longer.
TEST(CollectivesSuite, AnIterationOfALoopTakesWhatItsBytesTake) {
    const TemporaryFolder folder;
    const std::filesystem::path table = folder.path() / "loops.csv";
    {
        std::ofstream csv(table);
        csv << "id,collective,gpu,n_gpus,n_nodes,interconnect,algo,size_bytes,time_us\n";
        for (const char* const kind : {"all_reduce", "broadcast", "reduce", "send_receive"})
            for (const std::uint64_t mib : {16U, 64U, 256U})
                csv << kind << "," << kind << ",NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch,"
                    << (std::string_view(kind) == "all_reduce" ? "ring" : "auto") << ","
                    << (mib << 20U) << ",100000\n";
    }
    const SuiteResult result = run("collectives", table);
    ASSERT_EQ(result.cases.size(), 12U);
    for (std::size_t size = 0; size < 3; ++size)
        for (const std::size_t kind : {1U, 2U}) {
            const double share =
                result.cases[3 * kind + size].simulated / result.cases[size].simulated;
            EXPECT_GT(share, 0.45) << result.cases[3 * kind + size].id;
            EXPECT_LT(share, 1.1) << result.cases[3 * kind + size].id;
        }
}

TEST(CollectivesSuite, TheSameOnOneProcessAndOnMany) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.data = SWITCHFOLD_SOURCE_DIR "/validation/tests/synthetic_allreduce.csv";
    std::vector<std::string> texts;
    for (const unsigned jobs : {1U, 4U}) {
        options.jobs = jobs;
        const std::vector<SuiteResult> results{suite_named("collectives").run(options)};
        texts.push_back(to_json(results));
    }
    EXPECT_EQ(texts[0], texts[1]);
}

TEST(TrainingSuite, APlanOfOtherRanksThanTheRowsGpusIsLeftOut) {
    const TemporaryFolder folder;
    const auto steps = folder.path() / "mine.csv";
    std::ofstream(steps) << "id,gpu,n_gpus,n_nodes,interconnect,model,layers,hidden,heads,tp,pp,dp,"
                            "micro_batch,global_batch,schedule,step_ms\n"
                            "a,A100-SXM4-80GB,8,1,NVSwitch,GPT,22,2304,24,2,8,1,6,144,1f1b,1\n";
    const SuiteResult result = run("training", steps);
    EXPECT_TRUE(result.cases.empty());
    ASSERT_EQ(result.unmatched.size(), 1U);
    EXPECT_EQ(result.unmatched[0].why, "16 ranks on 8 GPUs");
}

TEST(TrainingSuite, ReadsWhatTheUserNamesAndNothingElse) {
    const TemporaryFolder folder;
    const auto steps = folder.path() / "mine.csv";
    std::ofstream(steps) << "id,gpu,n_gpus,model,schedule\na,NVIDIA H100 80GB HBM3,8,Foo,1f1b\n";
    const SuiteResult result = run("training", steps);
    EXPECT_TRUE(result.cases.empty());
    ASSERT_EQ(result.unmatched.size(), 1U);
    EXPECT_EQ(result.unmatched[0].id, "a");

    const auto refused = [](const std::filesystem::path& data) -> std::string {
        try {
            run("training", data);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(
        refused(folder.path()).find("holds neither schedules.csv nor training_steps.csv"),
        std::string::npos);
    std::filesystem::rename(steps, folder.path() / "training_steps.csv");
    EXPECT_EQ(run("training", folder.path()).unmatched.size(), 1U);
    const auto other = folder.path() / "other.csv";
    std::ofstream(other) << "a,b\n1,2\n";
    EXPECT_NE(
        refused(other).find("neither a table of schedules nor one of steps"), std::string::npos);
}

// The simulated time is 1.2 ms. The suspect table is named, and still counts in the means.
TEST(CollectivesSuite, ATableThatRanAtAThirdOfItsLinksIsNamed) {
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_suspect_{}.csv", getpid());
    std::ofstream(file) << "id,gpu,n_gpus,n_nodes,interconnect,algo,nccl_version,dtype,size_bytes,"
                           "time_us,algbw_GBps,busbw_GBps,source_url,placement,licence\n"
                           "good,NVIDIA H100 80GB HBM3,4,1,HGX NVSwitch,auto,2.20.5,float,"
                           "268435456,1200,,,made up,out-of-place,\n"
                           "bad,NVIDIA H100 80GB HBM3,4,1,HGX NVSwitch,auto,2.20.5,float,"
                           "268435456,3600,,,made up,out-of-place,\n";
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.data = file;
    const SuiteResult result = suite_named("collectives").run(options);
    std::filesystem::remove(file);
    ASSERT_EQ(result.notes.size(), 2U);
    EXPECT_EQ(result.notes[0].find("bad: its label is suspect: at 256 MiB it ran at 3"), 0U);
    EXPECT_NE(result.notes[1].find("without tables of suspect label"), std::string::npos);
    EXPECT_GT(result.verdicts.at(0).value, 0.3);
}

class ReplaySuite : public ::testing::Test {
protected:
    ReplaySuite() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~ReplaySuite() override { std::filesystem::remove_all(folder_); }
    ReplaySuite(const ReplaySuite&) = delete;
    ReplaySuite& operator=(const ReplaySuite&) = delete;
    ReplaySuite(ReplaySuite&&) = delete;
    ReplaySuite& operator=(ReplaySuite&&) = delete;
    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
    }
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_replay_{}", getpid());
};

/// Two steps of two kernels each, with gaps, on one GPU.
std::string two_steps(const char* gpu) {
    test_data::TraceText trace;
    trace.header(fmt::format(
        R"("deviceProperties": [{{"id": 0, "name": "{}", "totalGlobalMem": 84000000000}}],)", gpu));
    for (int step = 0; step < 2; ++step) {
        const int at = step * 1000;
        trace.event(
            "user_annotation", fmt::format("ProfilerStep#{}", step), "1", std::to_string(at),
            "1000");
        trace.launch("gemm", std::to_string(at + 10), "7", std::to_string(at + 20), "300");
        trace.launch("relu", std::to_string(at + 30), "7", std::to_string(at + 400), "500");
    }
    return trace.text();
}

TEST_F(ReplaySuite, AScheduleComesOutAndWhatCannotBeReadIsSaid) {
    write("a_run/rank0.json", two_steps("NVIDIA H100 80GB HBM3"));
    write("b_broken/rank0.json", "{\"traceEvents\": [");
    write("c_other_gpu/rank0.json", two_steps("NVIDIA A16"));
    write("notes.txt", "no trace");
    const SuiteResult result = run("replay", folder_);
    ASSERT_EQ(result.cases.size(), 1U);
    EXPECT_EQ(result.cases[0].id, "a_run/rank0");
    EXPECT_EQ(result.cases[0].unit, "us");
    EXPECT_NEAR(result.cases[0].measured, 1000, 200);
    EXPECT_NEAR(result.cases[0].error(), 0, 0.02);
    ASSERT_EQ(result.unmatched.size(), 2U);
    EXPECT_EQ(result.unmatched[0].id, "b_broken");
    EXPECT_NE(result.unmatched[0].why.find("holds no trace that can be read"), std::string::npos);
    EXPECT_NE(result.unmatched[1].why.find("no system has the GPU A16"), std::string::npos);
}

TEST_F(ReplaySuite, AFolderWithoutTracesIsRefused) {
    EXPECT_THROW(static_cast<void>(run("replay", folder_)), ConfigError);
}

}  // namespace
}  // namespace switchfold::validation::run_suites_test
