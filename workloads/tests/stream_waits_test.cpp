// SPDX-License-Identifier: Apache-2.0
// What an operation waited for on other streams, as its times tell.
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace switchfold::stream_waits_test {
namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)";

/// A trace of three operations: an all-reduce from 20 us on, and two kernels.
struct Seen {
    std::string reduced;      ///< end of the all-reduce
    std::string first_ended;  ///< end of the first kernel, which began at 10 us
    std::string second_began;
    bool launched = true;  ///< the trace has the calls that launched them, long before
};

bool second_waits(const Seen& seen) {
    const auto lasts = [](const std::string& end, double from) {
        return fmt::format("{:.3f}", std::stod(end) - from);
    };
    test_data::TraceText text;
    const auto add = [&](const std::string& name, const std::string& call,
                         const std::string& stream, const std::string& start,
                         const std::string& duration) {
        if (seen.launched)
            text.launch(name, call, stream, start, duration);
        else
            text.event(
                "kernel", name, stream, start, duration, fmt::format(R"("stream": {})", stream));
    };
    add("first", "1", "7", "10", lasts(seen.first_ended, 10));
    add(kAllReduce, "4", "20", "20", lasts(seen.reduced, 20));
    add("second", "7", "7", seen.second_began, "5");
    const TraceWorkload workload = text.read();
    const RankGraph& rank = *workload.graph.ranks[0];
    for (const Operation& operation : rank.operations)
        if (workload.graph.names[operation.name] == "second")
            return std::any_of(
                operation.dependencies.begin(), operation.dependencies.end(),
                [&](std::uint32_t before) {
                    return std::holds_alternative<CollectiveOperation>(
                        rank.operations[before].body);
                });
    ADD_FAILURE() << "no second kernel";
    return false;
}

TEST(StreamWaits, AnIdleStreamWaitedForTheCollectiveThatEndedThen) {
    for (const bool launched : {true, false}) {
        EXPECT_TRUE(second_waits({"60", "40", "60", launched})) << launched;
        EXPECT_TRUE(second_waits({"60", "40", "63", launched})) << launched;
        EXPECT_TRUE(second_waits({"61.500", "40", "60.250", launched}))
            << launched << ": clocks of streams differ";
        EXPECT_FALSE(second_waits({"60", "40", "75", launched})) << launched << ": long after";
    }
}

TEST(StreamWaits, ABusyStreamDidNotWaitForWhatEndedALittleLater) {
    for (const bool launched : {true, false}) {
        EXPECT_FALSE(second_waits({"61.500", "60.000", "60.250", launched})) << launched;
        EXPECT_TRUE(second_waits({"60.100", "60.000", "60.250", launched}))
            << launched << ": it ended in between";
    }
    // Whole microseconds do not tell which was first.
    EXPECT_TRUE(second_waits({"61", "60", "60", true}));
}

TEST(StreamWaits, ACollectiveThatWasReadyWaitedForAnotherStreams) {
    const auto waits = [](const std::string& gradient, const std::string& norm_began) {
        test_data::TraceText text;
        const auto add = [&](const std::string& name, const std::string& stream,
                             const std::string& start, const std::string& duration) {
            text.event(
                "kernel", name, stream, start, duration, fmt::format(R"("stream": {})", stream));
        };
        add("gradient", "7", "10", gradient);
        add(kAllReduce, "20", "20", "40");
        add("ncclDevKernel_AllReduce_Sum_f32_TREE_LL(norm)", "24", norm_began, "5");
        const TraceWorkload workload = text.read();
        const RankGraph& rank = *workload.graph.ranks[0];
        for (const Operation& operation : rank.operations)
            if (workload.graph.names[operation.name].find("norm") != std::string::npos)
                return std::any_of(
                    operation.dependencies.begin(), operation.dependencies.end(),
                    [&](std::uint32_t before) {
                        return std::holds_alternative<CollectiveOperation>(
                            rank.operations[before].body);
                    });
        ADD_FAILURE() << "no norm";
        return false;
    };
    EXPECT_TRUE(waits("20", "60")) << "its kernel ended at 30 us, the other all-reduce at 60";
    EXPECT_FALSE(waits("50", "60")) << "it waited for its kernel";
    EXPECT_FALSE(waits("20", "80")) << "long after";
}

}  // namespace
}  // namespace switchfold::stream_waits_test
