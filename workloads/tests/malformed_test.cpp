// SPDX-License-Identifier: Apache-2.0
// Runs every reader on broken copies of the fuzzers' corpus. Each run must end in a workload or in
// a user error that names the file. The copies are the same on every machine; the fuzzers (preset
// "fuzz") try others.
#include "core/error.h"
#include "core/random_stream.h"
#include "workloads/profile/rank_alignment.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/broken_text.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>

namespace switchfold::malformed_test {
namespace {

using test_data::TemporaryFile;

class Malformed : public ::testing::TestWithParam<const char*> {};

TEST_P(Malformed, EndsInAWorkloadOrInTheUsersError) {
    const std::filesystem::path file =
        std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "fuzz/readers/corpus" / GetParam();
    const std::string whole = test_data::content_of(file);
    ASSERT_FALSE(whole.empty()) << file;
    RandomStream random(1, GetParam());
    std::uint64_t refused = 0;
    constexpr int kCopies = 400;
    for (int i = 0; i < kCopies; ++i) {
        const std::string text = testing::broken(whole, random);
        const TemporaryFile copy(file.filename().string(), text);
        try {
            const TraceWorkload workload = read_traces({{copy.path()}, 16U << 20U});
            check(workload.graph);
            static_cast<void>(align_ranks(workload));
            static_cast<void>(impossible_orders(workload));
            static_cast<void>(summarise(workload, 0));
        } catch (const ConfigError& error) {
            ++refused;
            for (const Problem& problem : error.problems())
                ASSERT_EQ(problem.file, copy.path().string());
        }
    }
    EXPECT_GT(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, Malformed,
    ::testing::Values(
        "kineto/small.json", "kineto/small.json.gz", "own/small.jsonl", "own/small.swt",
        "chakra/small.et", "chakra/pytorch.et", "nccl_tests/sum.txt", "nccl_tests/gather.txt",
        "nccl_json/whole.json", "nccl_json/rows.json", "nccl_json/lines.jsonl",
        "nccl_inspector/old.log", "nccl_inspector/new.log", "flight_recorder/small.json",
        "rocprof/small.json", "nsight/small.sqlite", "nsight/small.sqlite.gz", "nsight/cut.sqlite",
        "capture/rank0.sfcapture"),
    [](const auto& corpus) {
        return std::regex_replace(std::string(corpus.param), std::regex("[^A-Za-z0-9]"), "_");
    });

/// A Kineto trace of one kernel with this start and duration.
std::string times(const std::string& start, const std::string& duration) {
    return test_data::TraceText()
        .event("kernel", "k", "7", start, duration, "\"stream\": 7")
        .text();
}

TEST(MalformedByHand, TimesThatCannotBe) {
    for (const auto& [start, duration] : std::vector<std::pair<std::string, std::string>>{
             {"9223372036854775808", "1"},
             {"18446744073709551615", "18446744073709551615"},
             {"1", "-1"},
             {"-5", "1"},
             {"1e300", "1"},
             {"\"soon\"", "1"},
             {"null", "1"}}) {
        const TemporaryFile file("trace.json", times(start, duration));
        EXPECT_THROW(static_cast<void>(read_traces({{file.path()}})), ConfigError)
            << start << " " << duration;
    }
}

TEST(MalformedByHand, AThousandRanks) {
    std::vector<std::unique_ptr<TemporaryFile>> files;
    ReadOptions options;
    for (int rank = 0; rank < 1000; ++rank) {
        test_data::TraceText text;
        text.header(
            fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 1000}},)", 999 - rank));
        text.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "1", "20", "5", "9");
        files.push_back(std::make_unique<TemporaryFile>(fmt::format("{}.json", rank), text.text()));
        options.files.push_back(files.back()->path());
    }
    const TraceWorkload workload = read_traces(options);
    EXPECT_EQ(workload.graph.ranks.size(), 1000U);
    EXPECT_EQ(workload.graph.groups.size(), 1U);
    const RankAlignment alignment = align_ranks(workload);
    EXPECT_TRUE(alignment.missing_ranks.empty());
    ASSERT_EQ(alignment.collectives.size(), 1U);
    EXPECT_EQ(alignment.collectives[0].ranks, 1000U);
}

}  // namespace
}  // namespace switchfold::malformed_test
