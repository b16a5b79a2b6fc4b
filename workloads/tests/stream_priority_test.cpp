// SPDX-License-Identifier: Apache-2.0
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace switchfold::stream_priority_test {
namespace {

using test_data::TraceText;

/// An SM of a V100.
constexpr const char* kHeader =
    R"("deviceProperties": [{"id": 0, "name": "GPU", "numSms": 80, "computeMajor": 7,
        "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536,
        "sharedMemPerMultiprocessor": 98304}],)";

/// A kernel on stream 7 from 10 to 1010 us, and three collectives on stream 20 that were launched
/// after it: they begin `begins_us` into it and later, one after the other.
struct Scene {
    std::uint64_t blocks = 16'000;
    std::uint32_t registers = 64;
    std::uint64_t shared_memory = 0;
    std::uint32_t collective_threads = 544;
    std::uint32_t collectives = 3;
    std::uint64_t launched_us = 20;
    std::uint64_t begins_us = 100;
    bool limits = true;
};

TraceWorkload read(const Scene& scene) {
    TraceText text;
    if (scene.limits)
        text.header(kHeader);
    int correlation = 0;
    const auto add = [&](const std::string& name, int stream, std::uint64_t launch,
                         std::uint64_t start, std::uint64_t duration, std::uint64_t blocks,
                         std::uint32_t threads, std::uint32_t registers,
                         std::uint64_t shared_memory) {
        text.event(
            "cuda_runtime", "cudaLaunchKernel", "1", std::to_string(launch), "2",
            fmt::format(R"("correlation": {})", ++correlation));
        text.event(
            "kernel", name, std::to_string(stream), std::to_string(start), std::to_string(duration),
            fmt::format(
                R"("stream": {}, "correlation": {}, "grid": [{}, 1, 1], "block": [{}, 1, 1], )"
                R"("registers per thread": {}, "shared memory": {})",
                stream, correlation, blocks, threads, registers, shared_memory));
    };
    add("compute", 7, 0, 10, 1000, scene.blocks, 512, scene.registers, scene.shared_memory);
    for (std::uint32_t i = 0; i < scene.collectives; ++i)
        add("ncclKernel_AllReduce_RING_LL_Sum_float", 20, scene.launched_us + i,
            10 + scene.begins_us + 60 * i, 50, 2, scene.collective_threads, 96, 42'024);
    return text.read();
}

/// Of the stream of collectives.
std::int32_t priority(const Scene& scene) {
    const TraceWorkload workload = read(scene);
    for (const Stream& stream : workload.graph.ranks[0]->streams)
        if (stream.name == "20")
            return stream.priority;
    ADD_FAILURE() << "no stream of collectives";
    return 0;
}

/// hta_dlrm_v100_2r: all-reduces begin within 25 us of being ready, a fiftieth into kernels of
/// 960,000 blocks.
TEST(StreamPriority, CollectivesThatBeginBetweenAKernelsBlocksGoFirst) {
    EXPECT_EQ(priority({}), -1);
    const TraceWorkload workload = read({});
    const auto& warnings = workload.files[0].warnings;
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
        return warning.starts_with("3 communication kernels of stream 20 began while");
    }));
    for (const Stream& stream : workload.graph.ranks[0]->streams)
        EXPECT_TRUE(stream.priority == 0 || stream.name == "20") << stream.name;
}

TEST(StreamPriority, OneAloneIsNoEvidence) {
    Scene scene;
    scene.collectives = 1;
    EXPECT_EQ(priority(scene), 0);
}

TEST(StreamPriority, NorAreCollectivesInAKernelsLastWaves) {
    Scene scene;
    scene.begins_us = 975;  // 16,000 blocks, two an SM, are a hundred waves
    scene.collectives = 2;
    EXPECT_EQ(priority(scene), 0);
    scene = {};
    scene.blocks = 320;
    EXPECT_EQ(priority(scene), 0) << "two waves in all";
}

TEST(StreamPriority, NorThoseThatFitBesideAKernelsBlocks) {
    // Two blocks of 48 KiB leave half of an SM's threads, and none of the shared memory that a
    // block of NCCL takes.
    Scene scene;
    scene.registers = 16;
    scene.shared_memory = 48 << 10;
    EXPECT_EQ(priority(scene), -1);
    scene.shared_memory = 26 << 10;  // three: 512 threads are left
    EXPECT_EQ(priority(scene), -1);
    scene.shared_memory = 0;
    scene.registers = 64;  // two: half of the threads and no register are left
    EXPECT_EQ(priority(scene), -1);
    scene.registers = 80;  // one: 24,576 registers are left, 52,224 wanted
    EXPECT_EQ(priority(scene), -1);
    scene.collective_threads = 96;
    EXPECT_EQ(priority(scene), 0);
}

TEST(StreamPriority, NorThoseThatWereReadyBeforeTheKernel) {
    Scene scene;
    scene.collectives = 2;
    EXPECT_EQ(priority(scene), -1);
    scene.launched_us = 1;  // the first waits for other reasons; the second alone overtakes
    EXPECT_EQ(priority(scene), 0);
}

TEST(StreamPriority, WithoutTheLimitsOfAnSmNothingIsKnown) {
    Scene scene;
    scene.limits = false;
    EXPECT_EQ(priority(scene), 0);
}

}  // namespace
}  // namespace switchfold::stream_priority_test
