// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/events/events.h"

#include "core/error.h"
#include "workloads/capture/events/counted_bytes.h"

#include <gtest/gtest.h>

namespace switchfold::capture::events_test {
namespace {

Kernel kernel(std::uint32_t name, std::uint32_t correlation) {
    Kernel kernel;
    kernel.start = 100;
    kernel.end = 200;
    kernel.name = name;
    kernel.correlation = correlation;
    return kernel;
}

Call launch(std::uint32_t correlation, std::uint64_t at, std::uint32_t thread = 1) {
    Call call;
    call.start = at;
    call.end = at + 1;
    call.thread = thread;
    call.correlation = correlation;
    return call;
}

NcclCall nccl(std::uint64_t at, std::uint32_t thread = 1) {
    NcclCall call;
    call.start = at;
    call.thread = thread;
    return call;
}

TEST(NcclLaunches, AKernelCarriesOutWhatIsToldBehindItsLaunch) {
    CaptureFile file;
    file.names = {"", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "gemm"};
    file.kernels = {kernel(1, 11), kernel(2, 12), kernel(1, 13), kernel(1, 14), kernel(1, 15)};
    file.calls = {
        launch(11, 20), launch(12, 25), launch(13, 40), launch(14, 40, 2), launch(15, 60)};
    file.nccl_calls = {nccl(10), nccl(21), nccl(41), nccl(45), nccl(99, 2), nccl(99, 3)};
    const NcclLaunches matched = match_nccl_calls(file);
    ASSERT_EQ(matched.calls.size(), 3U);
    ASSERT_EQ(matched.calls.at(0).size(), 1U);
    EXPECT_EQ(matched.calls.at(0)[0]->start, 21U);
    ASSERT_EQ(matched.calls.at(2).size(), 2U);
    EXPECT_EQ(matched.calls.at(2)[1]->start, 45U);
    EXPECT_EQ(matched.calls.at(3)[0]->thread, 2U);
    EXPECT_EQ(matched.kernels_without_calls, 1U);
    EXPECT_EQ(matched.calls_without_kernel, 2U);  // before the first launch; on a third thread
}

TEST(CommunicatorRanks, AreKnownWhenAllMembersTell) {
    CaptureFile a;
    a.session.rank = 4;
    a.communicators = {{1, "half", 0, 2, 1}, {2, "world", 0, 4, 1}};
    CaptureFile b;
    b.session.rank = 6;
    b.communicators = {{1, "half", 1, 2, 1}, {2, "world", 2, 4, 1}};
    const CommunicatorRanks ranks = communicator_ranks({&a, &b});
    ASSERT_EQ(ranks.size(), 1U);
    EXPECT_EQ(ranks.at(1), (std::vector<std::uint32_t>{4, 6}));
}

TEST(CountedBytes, AreFoundByPlaceOrElseByTheMean) {
    CaptureFile counters;
    counters.names = {"", "gemm"};
    counters.counters = {
        {1, {1, 1, 1}, {1, 1, 1}, 0, 100, 10}, {1, {1, 1, 1}, {1, 1, 1}, 1, 300, 30}};
    CountedBytes bytes(counters);
    EXPECT_EQ(bytes.next("gemm", Kernel{}).value().read, 100U);
    EXPECT_EQ(bytes.next("gemm", Kernel{}).value().written, 30U);
    EXPECT_EQ(bytes.next("gemm", Kernel{}).value().read, 200U);
    EXPECT_FALSE(bytes.next("relu", Kernel{}).has_value());
    Kernel other;
    other.grid = {2, 1, 1};
    EXPECT_FALSE(bytes.next("gemm", other).has_value());
}

std::vector<TraceEvent> events_of(const CaptureFile& file) {
    std::vector<TraceEvent> events;
    (void)add_events(file, nullptr, {}, [&](TraceEvent& event) { events.push_back(event); });
    return events;
}

TEST(Events, KernelsComeInTheOrderOfTheirLaunchesWithReadableNames) {
    CaptureFile file;
    file.session.clock_ns = 50;
    file.names = {"", "_Z4gemmPf", "relu"};
    file.kernels = {kernel(2, 9), kernel(1, 8)};
    const std::vector<TraceEvent> events = events_of(file);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].name, "gemm(float*)");
    EXPECT_EQ(events[1].name, "relu");
    EXPECT_EQ(events[0].start, 50'000U);
    EXPECT_EQ(events[0].duration, 100'000U);
}

TEST(Events, CallsLoseTheirVersions) {
    CaptureFile file;
    file.names = {"", "cudaMemcpyAsync_ptsz_v7000", "cuLaunchKernel", "my_vector"};
    for (std::uint32_t name = 1; name < 4; ++name) {
        file.calls.push_back(launch(name, 10));
        file.calls.back().name = name;
    }
    const std::vector<TraceEvent> events = events_of(file);
    EXPECT_EQ(events[0].name, "cudaMemcpyAsync_ptsz");
    EXPECT_EQ(events[1].name, "cuLaunchKernel");
    EXPECT_EQ(events[2].name, "my_vector");
}

TEST(Events, TimesThatNoClockShowsAreRefused) {
    CaptureFile file;
    file.names = {"", "gemm"};
    file.kernels = {kernel(1, 1)};
    file.kernels[0].end = 1ULL << 63U;
    try {
        (void)events_of(file);
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_PRED_FORMAT2(::testing::IsSubstring, "expected 200 days at most", error.what());
    }
}

}  // namespace
}  // namespace switchfold::capture::events_test
