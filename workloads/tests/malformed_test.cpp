// SPDX-License-Identifier: Apache-2.0
// Every reader against broken copies of the fuzzers' corpus: each ends in a workload or in an error
// of the user's that names the file, never in anything else. The same copies on every machine; the
// fuzzers (preset "fuzz") try others.
#include "sim/core/error.h"
#include "sim/core/random_stream.h"
#include "workloads/profile/rank_alignment.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <regex>

namespace switchfold::malformed_test {
namespace {

using test_data::TemporaryFile;

/// Numbers and signs that parsers trip over.
constexpr std::array<std::string_view, 10> kTraps{
    "9223372036854775808",
    "18446744073709551615",
    "-1",
    "1e308",
    "0",
    "null",
    "[[[[[[[[",
    "\"",
    "}",
    std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")};

std::string broken(std::string text, RandomStream& random) {
    const auto position = [&] {
        return static_cast<std::size_t>(random.below(std::max<std::uint64_t>(1, text.size())));
    };
    const auto length = [&](std::size_t from) {
        return std::min<std::size_t>(text.size() - from, 1 + random.below(16));
    };
    const std::uint64_t changes = 1 + random.below(3);
    for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
        const std::size_t at = position();
        switch (random.below(6)) {
        case 0:
            text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << random.below(8)));
            break;
        case 1:
            text.resize(at);
            break;
        case 2:
            text.erase(at, length(at));
            break;
        case 3:
            text.insert(position(), text.substr(at, length(at)));
            break;
        case 4: {
            // In place of a number, so that the rest stays as it was.
            const std::size_t digit = text.find_first_of("0123456789", at);
            const std::size_t from = digit == std::string::npos ? at : digit;
            const std::size_t end = text.find_first_not_of("0123456789", from);
            text.replace(
                from, std::min(end, text.size()) - from, kTraps[random.below(kTraps.size())]);
            break;
        }
        default:
            text.insert(at, kTraps[random.below(kTraps.size())]);
            break;
        }
    }
    return text;
}

class Malformed : public ::testing::TestWithParam<const char*> {};

TEST_P(Malformed, EndsInAWorkloadOrInTheUsersError) {
    const std::filesystem::path file =
        std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "workloads/fuzz/corpus" / GetParam();
    const std::string whole = test_data::content_of(file);
    ASSERT_FALSE(whole.empty()) << file;
    RandomStream random(1, GetParam());
    std::uint64_t refused = 0;
    constexpr int kCopies = 400;
    for (int i = 0; i < kCopies; ++i) {
        const std::string text = broken(whole, random);
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
    Corpus,
    Malformed,
    ::testing::Values(
        "kineto/small.json",
        "kineto/small.json.gz",
        "own/small.jsonl",
        "own/small.swt",
        "chakra/small.et",
        "chakra/pytorch.et",
        "nccl_tests/sum.txt",
        "nccl_tests/gather.txt",
        "nsight/small.sqlite",
        "nsight/small.sqlite.gz",
        "nsight/cut.sqlite",
        "capture/rank0.sfcapture"),
    [](const auto& corpus) {
        return std::regex_replace(std::string(corpus.param), std::regex("[^A-Za-z0-9]"), "_");
    });

/// Kineto's events of one kernel whose time stamps are these.
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
