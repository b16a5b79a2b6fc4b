// SPDX-License-Identifier: Apache-2.0
// Reads traces of real runs, which are not part of the repository.
#include "workloads/graph/schedule.h"
#include "workloads/graph/without_overlap.h"
#include "workloads/readers/kineto/reader.h"
#include "workloads/tests/round_trip.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <set>

#include <zlib.h>

namespace switchfold::kineto_traces_test {
namespace {

using Json = nlohmann::json;

std::filesystem::path trace(const std::string& name) {
    return std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "../shared/traces" / name;
}

#define SKIP_WITHOUT(path)                                                                         \
    if (!std::filesystem::exists(path))                                                            \
    GTEST_SKIP() << "no " << (path) << ": the real traces are not part of the repository"

Json load(const std::filesystem::path& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    std::string text;
    std::array<char, 1U << 16U> block{};
    for (int n = gzread(file, block.data(), block.size()); n > 0;
         n = gzread(file, block.data(), block.size()))
        text.append(block.data(), static_cast<std::size_t>(n));
    gzclose(file);
    return Json::parse(text);
}

/// Contents of a trace, counted by an independent parser.
struct Count {
    std::uint64_t kernels = 0;
    std::uint64_t collectives = 0;
    std::uint64_t copies = 0;
    std::set<std::string> streams;
};

Count count(const Json& trace) {
    Count counts;
    for (const Json& event : trace.at("traceEvents")) {
        if (event.value("ph", "") != "X")
            continue;
        std::string category = event.value("cat", "");
        std::transform(category.begin(), category.end(), category.begin(), [](unsigned char c) {
            return static_cast<char>(std::tolower(c));
        });
        const bool kernel = category == "kernel";
        const bool copy = category == "gpu_memcpy" || category == "memcpy" ||
                          category == "gpu_memset" || category == "memset";
        if (!kernel && !copy)
            continue;
        const bool collective =
            kernel && event.at("name").get<std::string>().find("nccl") != std::string::npos;
        ++(copy ? counts.copies : collective ? counts.collectives : counts.kernels);
        counts.streams.insert(event.at("args").at("stream").dump());
    }
    return counts;
}

class RealTrace : public ::testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] static std::filesystem::path path() { return trace(GetParam()); }
    /// Number of GPU operations that were launched before the trace began. The reader drops them,
    /// and with them the delays that they caused.
    [[nodiscard]] static std::uint64_t left_out(const TraceWorkload& workload) {
        const auto& dropped = workload.files[0].dropped;
        const auto found = dropped.find("GPU operations launched before the trace began");
        return found == dropped.end() ? 0 : found->second;
    }
};

TEST_P(RealTrace, HoldsWhatAnotherParserCounts) {
    SKIP_WITHOUT(path());
    const TraceWorkload workload = read_kineto({{path()}});
    check(workload.graph);
    const TraceFileReport& report = workload.files[0];
    const Json json = load(path());
    const Count expected = count(json);
    EXPECT_EQ(
        report.kernels + report.collectives + report.copies + left_out(workload),
        expected.kernels + expected.collectives + expected.copies);
    if (left_out(workload) == 0) {
        EXPECT_EQ(report.kernels, expected.kernels);
        EXPECT_EQ(report.collectives, expected.collectives);
        EXPECT_EQ(report.copies, expected.copies);
        EXPECT_EQ(report.streams, expected.streams.size());
    }
    EXPECT_EQ(report.events, json.at("traceEvents").size());
    std::uint64_t accounted = 0;
    for (const auto* counts : {&report.used, &report.dropped})
        for (const auto& [what, n] : *counts)
            if (what != "dependencies that the measured times contradict")
                accounted += n;
    EXPECT_EQ(accounted, report.events) << "every event is used or dropped";
}

TEST_P(RealTrace, EvaluatedWithItsOwnDurationsGivesItsOwnTimes) {
    SKIP_WITHOUT(path());
    const TraceWorkload workload = read_kineto({{path()}});
    const RankGraph& rank = *workload.graph.ranks[0];
    const Schedule schedule =
        evaluate(rank, [](std::uint32_t, const Operation& o) { return measured_duration(o); });
    Time makespan;
    double worst = 0;
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        if (std::holds_alternative<HostDelayOperation>(rank.operations[i].body))
            continue;
        const auto& measured = workload.measured[0][i];
        makespan = std::max(makespan, measured.end);
        const double off =
            to_microseconds(schedule.operations[i].start) - to_microseconds(measured.start);
        if (left_out(workload) == 0)
            worst = std::max(worst, std::abs(off));
        else
            worst = std::max(worst, off);  // earlier is fine: what caused the wait is dropped
    }
    EXPECT_LE(worst, 5.0) << "us; clocks have 1 us and streams overlap by as much";
    if (left_out(workload) == 0)
        EXPECT_NEAR(
            to_microseconds(schedule.makespan), to_microseconds(makespan),
            1e-3 * to_microseconds(makespan));
    else
        EXPECT_LE(schedule.makespan, makespan);
}

TEST_P(RealTrace, ComesBackTheSameFromOurOwnFormat) {
    SKIP_WITHOUT(path());
    const TraceWorkload workload = read_kineto({{path()}});
    test_data::expect_same(workload, test_data::again(workload));
}

TEST_P(RealTrace, NoDependencyContradictsTheMeasuredTimes) {
    SKIP_WITHOUT(path());
    const TraceWorkload workload = read_kineto({{path()}});
    const RankGraph& rank = *workload.graph.ranks[0];
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (rank.streams[rank.operations[i].stream].kind == StreamKind::kGpu) {
            for (const std::uint32_t d : rank.operations[i].dependencies) {
                ASSERT_LE(
                    workload.measured[0][d].end, workload.measured[0][i].start + microseconds(2))
                    << i << " on " << d;
            }
        }
}

TEST_P(RealTrace, SerialOrderKeepsEveryOperationAndOverlapsNoCollective) {
    SKIP_WITHOUT(path());
    const TraceWorkload workload = read_kineto({{path()}});
    const ExecutionGraph serial = without_overlap(workload.graph);
    check(serial);
    const RankGraph& rank = *serial.ranks[0];
    const auto on_gpu = [](const RankGraph& of) {
        return std::count_if(
            of.operations.begin(), of.operations.end(), [&](const Operation& operation) {
                return of.streams[operation.stream].kind == StreamKind::kGpu;
            });
    };
    ASSERT_EQ(on_gpu(rank), on_gpu(*workload.graph.ranks[0])) << "pauses alone are new";
    const Schedule schedule =
        evaluate(rank, [](std::uint32_t, const Operation& o) { return measured_duration(o); });
    // In graph order, every collective runs after all operations before it and before all after it.
    Time collectives_end;
    Time others_end;
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        if (rank.streams[rank.operations[i].stream].kind != StreamKind::kGpu)
            continue;
        const auto& [start, end] = schedule.operations[i];
        ASSERT_GE(start, collectives_end) << i;
        if (std::holds_alternative<CollectiveOperation>(rank.operations[i].body)) {
            ASSERT_GE(start, others_end) << i;
            collectives_end = end;
        } else {
            others_end = std::max(others_end, end);
        }
    }
}

TEST_P(RealTrace, BytesNeverExceedThePeak) {
    SKIP_WITHOUT(path());
    const TraceWorkload workload = read_kineto({{path()}});
    constexpr double kFastest = 5.3e12;  // MI300X
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
            ASSERT_LE(
                static_cast<double>((kernel->bytes_read + kernel->bytes_written).count()),
                kFastest * to_seconds(kernel->isolated))
                << workload.graph.names[operation.name];
        }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, RealTrace,
    ::testing::Values(
        "hta_ddp_a100_2r/rank0.json.gz", "hta_ddp_v100_2r_latency/rank1.json.gz",
        "hta_dlrm_a100_8r/rank3.json.gz", "hta_reco_a100_16r/rank0.json.gz",
        "astrasim_megatron_tp8_a100/rank0.json.gz", "astrasim_megatron_tp8_a100/rank7.json.gz",
        "tracelens_resnet_ddp_mi300x_8r/rank0.json.gz",
        "kineto_resnet50_samples/resnet50_num_workers_0_worker0.json.gz"),
    [](const auto& trace_info) {
        return std::regex_replace(std::string(trace_info.param), std::regex("[^A-Za-z0-9]"), "_");
    });

/// Sizes of a trace's collectives of one kind, in graph order.
std::vector<std::uint64_t> sizes(const TraceWorkload& workload, CollectiveKind kind) {
    std::vector<std::uint64_t> found;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body); c && c->kind == kind)
            found.push_back(c->bytes.count());
    return found;
}

/// Share of the kernels' time that belongs to a phase of training.
double share_in_phases(const TraceWorkload& workload) {
    double in = 0;
    double all = 0;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
            all += to_microseconds(kernel->measured);
            in += operation.phase == Phase::kOther ? 0 : to_microseconds(kernel->measured);
        }
    return in / all;
}

TEST(RealTraceDetails, DdpBucketsAreResNet50sGradients) {
    const auto path = trace("hta_ddp_a100_2r/rank0.json.gz");
    SKIP_WITHOUT(path);
    const TraceWorkload workload = read_kineto({{path}});
    const auto found = sizes(workload, CollectiveKind::kAllReduce);
    const std::vector<std::uint64_t> buckets{
        2049000 * 4, 7875584 * 4, 6563840 * 4, 6637568 * 4, 2431040 * 4};
    ASSERT_EQ(found.size(), 15U);
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i], buckets[i % 5]) << i;
    EXPECT_GT(share_in_phases(workload), 0.95);
    EXPECT_EQ(workload.graph.steps, 3U);
    EXPECT_EQ(workload.files[0].sms, 108U);
    EXPECT_EQ(workload.graph.provenance.world_size, 2U);
    // Every all-reduce is launched within the backward pass.
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body);
            c && c->kind == CollectiveKind::kAllReduce) {
            EXPECT_EQ(operation.phase, Phase::kBackward);
        }
}

TEST(RealTraceDetails, OptimizerWaitsForTheLastBucket) {
    const auto path = trace("hta_ddp_a100_2r/rank0.json.gz");
    SKIP_WITHOUT(path);
    const TraceWorkload workload = read_kineto({{path}});
    const RankGraph& rank = *workload.graph.ranks[0];
    // The last all-reduce takes half a second longer. The step grows by as much, less the time by
    // which the host lags behind anyway.
    const auto plain = [](std::uint32_t, const Operation& o) { return measured_duration(o); };
    const Schedule before = evaluate(rank, plain);
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i)
        if (std::holds_alternative<CollectiveOperation>(rank.operations[i].body))
            last = i;
    const Schedule after = evaluate(rank, [&](std::uint32_t i, const Operation& o) {
        return measured_duration(o) + (i == last ? microseconds(500'000) : Time());
    });
    EXPECT_GT(after.makespan, before.makespan + microseconds(450'000));
}

TEST(RealTraceDetails, MegatronSizesComeFromTheCalls) {
    const auto path = trace("astrasim_megatron_tp8_a100/rank0.json.gz");
    SKIP_WITHOUT(path);
    const TraceWorkload workload = read_kineto({{path}});
    const auto found = sizes(workload, CollectiveKind::kAllReduce);
    EXPECT_EQ(std::count(found.begin(), found.end(), 2048U * 4 * 4096 * 2), 81);
    EXPECT_EQ(workload.files[0].sizes.count("estimated_from_duration"), 0U);
}

TEST(RealTraceDetails, DlrmAndAmdSizes) {
    const auto dlrm = trace("hta_dlrm_a100_8r/rank3.json.gz");
    SKIP_WITHOUT(dlrm);
    const auto reduces = sizes(read_kineto({{dlrm}}), CollectiveKind::kAllReduce);
    EXPECT_EQ(std::count(reduces.begin(), reduces.end(), 45310188U * 4), 6);
    const TraceWorkload amd =
        read_kineto({{trace("tracelens_resnet_ddp_mi300x_8r/rank0.json.gz")}});
    EXPECT_EQ(
        sizes(amd, CollectiveKind::kAllReduce),
        (std::vector<std::uint64_t>{
            2873320 * 2, 8816192 * 2, 2873320 * 2, 8816192 * 2, 2873320 * 2, 8816192 * 2}));
    EXPECT_GT(share_in_phases(amd), 0.95);
}

TEST(RealTraceDetails, AllRanksOfARunMakeOneGraph) {
    KinetoOptions options;
    for (int rank = 7; rank >= 0; --rank)
        options.files.push_back(
            trace("astrasim_megatron_tp8_a100/rank" + std::to_string(rank) + ".json.gz"));
    SKIP_WITHOUT(options.files[0]);
    const TraceWorkload workload = read_kineto(options);
    check(workload.graph);
    ASSERT_EQ(workload.graph.ranks.size(), 8U);
    ASSERT_EQ(workload.graph.groups.size(), 1U);
    // The ranks agree on every collective.
    std::vector<std::vector<std::uint64_t>> bytes(8);
    for (std::size_t r = 0; r < 8; ++r)
        for (const Operation& operation : workload.graph.ranks[r]->operations)
            if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                EXPECT_EQ(c->sequence, bytes[r].size());
                bytes[r].push_back(c->bytes.count());
            }
    for (std::size_t r = 1; r < 8; ++r)
        EXPECT_EQ(bytes[r], bytes[0]) << "rank " << r;
}

}  // namespace
}  // namespace switchfold::kineto_traces_test
