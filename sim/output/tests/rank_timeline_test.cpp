// SPDX-License-Identifier: Apache-2.0
// The files follow their readers' rules: Holistic Trace Analysis (hta/common/trace_file.py and
// trace_parser.py) takes a folder of JSON objects whose distributedInfo.rank is a number, keeps
// events with "dur" and "cat", and looks for args.stream and args.correlation.
#include "sim/output/rank_timeline.h"

#include "core/json.h"
#include "core/tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <zlib.h>

namespace switchfold::rank_timeline_test {
namespace {

const std::vector<std::uint32_t> kRanks{0, 1, 2, 3};

RankSlice kernel(std::uint64_t correlation, std::uint64_t start, std::uint64_t end) {
    RankSlice slice;
    slice.name = "gemm \"quoted\"";
    slice.category = "kernel";
    slice.stream = 7;
    slice.start_ps = start;
    slice.end_ps = end;
    slice.correlation = correlation;
    slice.grid = {8, 2, 1};
    slice.block = {128, 1, 1};
    slice.registers = 32;
    return slice;
}

template <class Fill>
Json written(Fill fill) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "rank3.json.gz";
    RankTimelineWriter writer(path, {"GPU \"X\"", 132, 80'000'000'000, 3, 4});
    fill(writer);
    writer.close();
    gzFile file = gzopen(path.c_str(), "rb");
    std::string text;
    std::array<char, 4096> part{};
    for (int n = 0; (n = gzread(file, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(n));
    gzclose(file);
    return Json::parse(text);
}

TEST(RankTimeline, TheHeadSaysWhichRank) {
    const Json trace = written([](RankTimelineWriter&) {});
    EXPECT_EQ(trace["distributedInfo"]["rank"], 3);
    EXPECT_EQ(trace["distributedInfo"]["world_size"], 4);
    EXPECT_EQ(trace["deviceProperties"][0]["totalGlobalMem"], 80'000'000'000);
    EXPECT_EQ(trace["switchfold_simulated"], true);
}

TEST(RankTimeline, EveryEventHasWhatParsersAskFor) {
    const Json trace = written([](RankTimelineWriter& writer) {
        RankSlice reduction = kernel(2, 5'000'000, 9'000'000);
        reduction.name = "ncclDevKernel_AllReduce(bucket)";
        reduction.collective =
            RankCollective{"allreduce", "Float", 1000, 1000, "world", kRanks, {}, {}, {}};
        RankSlice copy = kernel(3, 9'000'000, 9'500'000);
        copy.category = "gpu_memcpy";
        copy.bytes = 64;
        RankSlice launched = kernel(1, 2'000'000, 4'000'000);
        launched.launched_ps = 1'500'000;
        writer.add(launched);
        writer.add(reduction);
        writer.add(copy);
        writer.add(kernel(4, 10'000'000, 10'000'000));  // zero duration: omitted
        writer.add_step(0, 0, 9'500'000);
    });
    std::set<std::uint64_t> correlations;
    std::set<std::uint64_t> launches;
    for (const Json& event : trace["traceEvents"]) {
        ASSERT_TRUE(event["pid"].is_number_unsigned() && event["tid"].is_number_unsigned());
        ASSERT_TRUE(event["ts"].is_number());
        if (event["ph"] != "X")
            continue;
        ASSERT_TRUE(event["cat"].is_string() && event["name"].is_string());
        ASSERT_GT(event["dur"].get<double>(), 0);
        if (event["args"].contains("stream")) {
            EXPECT_EQ(event["args"]["stream"], event["tid"]);
            EXPECT_TRUE(
                correlations.insert(event["args"]["correlation"].get<std::uint64_t>()).second);
        } else if (event["cat"] == "cuda_runtime") {
            EXPECT_EQ(event["name"], "cudaLaunchKernel");
            EXPECT_DOUBLE_EQ(event["ts"].get<double>() + event["dur"].get<double>(), 1.5);
            launches.insert(event["args"]["correlation"].get<std::uint64_t>());
        } else {
            EXPECT_EQ(event["name"], "ProfilerStep#0");
        }
    }
    EXPECT_EQ(correlations, (std::set<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(launches, std::set<std::uint64_t>{1});
}

TEST(RankTimeline, CallsOfOneMomentShareTheTimeBeforeIt) {
    const Json trace = written([](RankTimelineWriter& writer) {
        // Not in the order of the host: 3 and 1 end together, 2 less than 1 us later, 4 at once.
        const auto launched = [&](std::uint64_t correlation, std::uint64_t ps) {
            RankSlice slice = kernel(correlation, 9'000'000, 9'500'000);
            slice.launched_ps = ps;
            writer.add(slice);
        };
        launched(3, 5'000'000);
        launched(2, 5'200'000);
        launched(1, 5'000'000);
        launched(4, 0);
    });
    std::vector<std::array<double, 3>> calls;
    for (const Json& event : trace["traceEvents"])
        if (event.value("cat", "") == "cuda_runtime")
            calls.push_back(
                {event["args"]["correlation"].get<double>(), event["ts"].get<double>(),
                 event["dur"].get<double>()});
    EXPECT_EQ(calls, (std::vector<std::array<double, 3>>{{1, 4, 0.5}, {3, 4.5, 0.5}, {2, 5, 0.2}}));
}

TEST(RankTimeline, ACallFollowsTheWaitBeforeIt) {
    const Json trace = written([](RankTimelineWriter& writer) {
        RankSlice slice = kernel(1, 9'000'000, 9'500'000);
        slice.launched_ps = 5'200'000;
        writer.add(slice);
        writer.add_wait(0, 2, 1'000'000, 5'000'000);
    });
    std::map<std::string, std::array<double, 2>> calls;
    for (const Json& event : trace["traceEvents"])
        if (event.value("cat", "") == "cuda_runtime")
            calls[event["name"]] = {event["ts"].get<double>(), event["dur"].get<double>()};
    EXPECT_EQ(calls["cudaStreamSynchronize"], (std::array<double, 2>{1, 4}));
    EXPECT_EQ(calls["cudaLaunchKernel"], (std::array<double, 2>{5, 0.2}));
}

TEST(RankTimeline, ItsStreamsWaitsStandBeforeALaunch) {
    const Json trace = written([](RankTimelineWriter& writer) {
        RankSlice slice = kernel(1, 9'000'000, 9'500'000);
        slice.launched_ps = 5'000'000;
        slice.waits = 1;
        writer.add(slice);
    });
    std::vector<std::string> calls;
    for (const Json& event : trace["traceEvents"])
        if (event.value("cat", "") == "cuda_runtime")
            calls.push_back(event["name"].get<std::string>() + event["ts"].dump());
    EXPECT_EQ(calls, (std::vector<std::string>{"cudaStreamWaitEvent4.0", "cudaLaunchKernel4.5"}));
}

TEST(RankTimeline, AMessageSaysItsPeerAndAnExchangeItsParts) {
    const Json trace = written([](RankTimelineWriter& writer) {
        RankSlice slice = kernel(1, 0, 1'000'000);
        slice.collective = RankCollective{"send", "Byte", 64, 64, "messages 3", kRanks, 2, {}, {}};
        writer.add(slice);
        slice.collective =
            RankCollective{"all_to_all", "Byte", 9, 7, "world", kRanks, {}, {4, 5}, {3, 4}};
        writer.add(slice);
    });
    const Json& events = trace["traceEvents"];
    EXPECT_EQ(events[events.size() - 2]["args"]["Dst Rank"], 2);
    EXPECT_EQ(events.back()["args"]["In split size"], "[4, 5]");
    EXPECT_EQ(events.back()["args"]["Out split size"], "[3, 4]");
}

TEST(RankTimeline, ACollectiveSaysItsSizeAndItsRanks) {
    const Json trace = written([](RankTimelineWriter& writer) {
        RankSlice slice = kernel(1, 0, 1'000'000);
        slice.collective =
            RankCollective{"_allgather_base", "BFloat16", 250, 1000, "g \"1\"", kRanks, {}, {}, {}};
        writer.add(slice);
    });
    const Json& args = trace["traceEvents"].back()["args"];
    EXPECT_EQ(args["Collective name"], "_allgather_base");
    EXPECT_EQ(args["In msg nelems"], 250);
    EXPECT_EQ(args["Out msg nelems"], 1000);
    EXPECT_EQ(args["dtype"], "BFloat16");
    EXPECT_EQ(args["Group size"], 4);
    EXPECT_EQ(args["Process Group Name"], "g \"1\"");
    EXPECT_EQ(args["Process Group Ranks"], "[0, 1, 2, 3]");
    EXPECT_EQ(args["grid"], Json::parse("[8, 2, 1]"));
}

}  // namespace
}  // namespace switchfold::rank_timeline_test
