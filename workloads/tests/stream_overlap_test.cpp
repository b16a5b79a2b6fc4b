// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/trace_summary.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::stream_overlap_test {
namespace {

using test_data::TraceText;

constexpr const char* kMended = "operations moved behind the one before them on their stream";

/// Measured times of the GPU operations, in graph order.
std::vector<TraceWorkload::Measured> times(const TraceWorkload& workload) {
    std::vector<TraceWorkload::Measured> found;
    const RankGraph& rank = *workload.graph.ranks[0];
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (rank.streams[rank.operations[i].stream].kind == StreamKind::kGpu)
            found.push_back(workload.measured[0][i]);
    return found;
}

/// An interval in us since the first launch.
TraceWorkload::Measured between(std::uint64_t start_us, std::uint64_t end_us) {
    return {microseconds(start_us), microseconds(end_us)};
}

TEST(StreamOverlap, WholeMicrosecondsOverlapByRounding) {
    const TraceWorkload workload = TraceText()
                                       .launch("a", "0", "7", "10", "6")
                                       .launch("b", "1", "7", "15", "5")
                                       .launch("c", "2", "7", "19", "1")
                                       .launch("d", "3", "9", "12", "3")
                                       .read();
    EXPECT_TRUE(impossible_orders(workload).empty());
    EXPECT_EQ(workload.files[0].mended.at(kMended), 2U);
    const std::vector<TraceWorkload::Measured> expected{
        between(10, 16), between(16, 20), between(20, 21), between(12, 15)};
    EXPECT_EQ(times(workload), expected) << "what ends too early is moved whole";
    EXPECT_NE(
        workload.files[0].warnings.front().find("the times are whole microseconds"),
        std::string::npos)
        << workload.files[0].warnings.front();
}

TEST(StreamOverlap, ALaunchAheadOfItsTurnBeginsWhenItsTurnComes) {
    const TraceWorkload workload = TraceText()
                                       .launch("a", "0", "7", "10.5", "65.5")
                                       .launch("b", "1", "7", "63.5", "43")
                                       .read();
    EXPECT_TRUE(impossible_orders(workload).empty());
    EXPECT_EQ(times(workload)[1].start, microseconds(76));
    EXPECT_NE(
        workload.files[0].warnings.front().find("1 operation began up to 12.500 us before"),
        std::string::npos)
        << workload.files[0].warnings.front();
}

/// Three kernels of one CUDA graph and one after it: the first ends 13 us after the second began.
TraceText of_a_graph(const std::string& compute_major, const std::string& second_duration) {
    TraceText text;
    text.header(fmt::format(
        R"("deviceProperties": [{{"id": 0, "name": "GPU"{}}}],)",
        compute_major.empty() ? "" : ", \"computeMajor\": " + compute_major));
    text.event("cuda_runtime", "cudaGraphLaunch", "1", "0", "5", R"("correlation": 77)");
    const auto add = [&](const std::string& name, const std::string& start, const auto& duration) {
        text.event(
            "kernel", name, "7", start, duration,
            R"("stream": 7, "correlation": 77, "grid": [8, 1, 1], "block": [128, 1, 1])");
    };
    add("a", "10", std::string("19"));
    add("b", "16", second_duration);
    add("c", "700", std::string("3"));
    return text.launch("d", "6", "7", "800", "3");
}

TEST(StreamOverlap, InsideACudaGraphAnEndIsStampedLate) {
    const TraceWorkload workload = of_a_graph("7", "518").read();
    EXPECT_TRUE(impossible_orders(workload).empty());
    const auto found = times(workload);
    EXPECT_EQ(found[0], between(10, 16)) << "the kernel had ended when the next one began";
    EXPECT_EQ(found[1], between(16, 534));
    EXPECT_FALSE(workload.files[0].mended.contains(kMended));
    EXPECT_EQ(
        workload.files[0].mended.at(
            "operations of CUDA graphs that ended after their successor began"),
        1U);
}

TEST(StreamOverlap, OneThatEndsWithinItsPredecessorOfTheGraphIsPartedToo) {
    for (const char* const compute_major : {"7", "9", ""}) {
        const TraceWorkload workload = of_a_graph(compute_major, "13").read();
        EXPECT_TRUE(impossible_orders(workload).empty());
        EXPECT_EQ(times(workload)[0], between(10, 16)) << compute_major;
        EXPECT_EQ(times(workload)[1], between(16, 29)) << compute_major;
    }
}

TEST(StreamOverlap, WhereKernelsMayBeLaunchedAheadTheLaterOneMoves) {
    for (const char* const compute_major : {"9", ""}) {
        const TraceWorkload workload = of_a_graph(compute_major, "518").read();
        EXPECT_EQ(times(workload)[0], between(10, 29)) << compute_major;
        EXPECT_EQ(times(workload)[1], between(29, 534)) << compute_major;
    }
}

TEST(StreamOverlap, WithoutAGraphOneThatEndsWithinItsPredecessorIsAContradiction) {
    const TraceWorkload workload =
        TraceText().launch("a", "0", "7", "10", "19").launch("b", "1", "7", "16", "13").read();
    EXPECT_EQ(impossible_orders(workload).size(), 1U);
}

TEST(StreamOverlap, KernelsInsideACudaGraphAreMarked) {
    const TraceWorkload workload = of_a_graph("7", "518").read();
    std::vector<bool> inside;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            inside.push_back(kernel->inside_cuda_graph);
    EXPECT_EQ(inside, std::vector<bool>({true, true, false, false}))
        << "the graph's last kernel tells the host, and so does one of its own";
}

RC_GTEST_PROP(StreamOverlap, RoundedTimesAreUsableAndStayInOrder, ()) {
    TraceText text;
    double at = 10;
    const auto kernels = *rc::gen::inRange(1, 40);
    std::uint64_t whole = 0;
    for (int i = 0; i < kernels; ++i) {
        const double start = at + *rc::gen::inRange(0, 30) / 10.0;
        const double duration = *rc::gen::inRange(1, 80) / 10.0;
        at = start + duration;
        const auto rounded = [](double us) { return std::to_string(std::llround(us)); };
        text.launch("k", "0", "7", rounded(start), rounded(duration));
        whole += static_cast<std::uint64_t>(std::llround(duration));
    }
    const TraceWorkload workload = text.read();
    RC_ASSERT(impossible_orders(workload).empty());
    const auto found = times(workload);
    Time busy;
    for (std::size_t i = 0; i < found.size(); ++i) {
        RC_ASSERT(found[i].end >= found[i].start);
        RC_ASSERT((i == 0 || found[i].start >= found[i - 1].end));
        busy = busy + (found[i].end - found[i].start);
    }
    RC_ASSERT(busy <= microseconds(whole));
}

}  // namespace
}  // namespace switchfold::stream_overlap_test
