// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/graph/schedule.h"
#include "workloads/profile/classify.h"
#include "workloads/profile/whole_run.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::kineto_reader_test {
namespace {

using test_data::TemporaryFile;
using test_data::TraceText;

/// Operations by name, in graph order.
std::vector<const Operation*> named(const TraceWorkload& workload, const std::string& name) {
    std::vector<const Operation*> found;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (workload.graph.names[operation.name] == name)
            found.push_back(&operation);
    return found;
}

const Operation& only(const TraceWorkload& workload, const std::string& name) {
    const auto found = named(workload, name);
    if (found.size() != 1)
        throw std::runtime_error(fmt::format("{} operations {}", found.size(), name));
    return *found.front();
}

bool depends_on(const TraceWorkload& workload, const Operation& after, const std::string& before) {
    return std::any_of(after.dependencies.begin(), after.dependencies.end(), [&](std::uint32_t d) {
        return workload.graph.names[workload.graph.ranks[0]->operations[d].name] == before;
    });
}

/// Start of an operation when the graph is evaluated with the trace's durations.
Time evaluated_start(const TraceWorkload& workload, const std::string& name) {
    const RankGraph& rank = *workload.graph.ranks[0];
    const Schedule schedule =
        evaluate(rank, [](std::uint32_t, const Operation& o) { return measured_duration(o); });
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (workload.graph.names[rank.operations[i].name] == name)
            return schedule.operations[i].start;
    return kTimeMax;
}

const CollectiveOperation& collective(const TraceWorkload& workload, const std::string& name) {
    return std::get<CollectiveOperation>(only(workload, name).body);
}

constexpr const char* kAllReduce = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";

std::string allocation(int device_type, std::uint64_t allocated, std::uint64_t reserved) {
    return fmt::format(
        R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1,
            "ts": 5, "args": {{"Total Reserved": {}, "Total Allocated": {}, "Bytes": -512,
            "Addr": 140, "Device Id": 0, "Device Type": {}, "Ev Idx": 7}}}})",
        reserved, allocated, device_type);
}

TEST(KinetoReader, TellsTheAllocatorsPeaks) {
    TraceText trace;
    trace.launch("gemm", "10", "7", "15", "50");
    EXPECT_EQ(trace.read().files[0].peak_allocated, 0U) << "not recorded";
    trace.raw(allocation(1, 5000, 20'000)).raw(allocation(1, 7000, 20'000));
    trace.raw(allocation(1, 6000, 40'000)).raw(allocation(0, 90'000, 90'000));
    trace.raw(R"({"ph": "i", "cat": "cpu_instant_event", "name": "other", "ts": 5})");
    const TraceFileReport report = trace.read().files[0];
    EXPECT_EQ(report.peak_allocated, 7000U);
    EXPECT_EQ(report.peak_reserved, 40'000U);
    EXPECT_EQ(report.used.at("allocations"), 3U);
    EXPECT_EQ(report.dropped.at("the host's allocations"), 1U);
    EXPECT_EQ(report.dropped.at("instants and counters"), 1U);
    // The header states 84 GB.
    trace.raw(allocation(1, 84'000'000'001, 84'000'000'001));
    const TraceFileReport wrong = trace.read().files[0];
    EXPECT_EQ(wrong.peak_allocated, 0U);
    EXPECT_NE(wrong.warnings.at(0).find("its numbers are not used"), std::string::npos);
}

TEST(KinetoReader, HostPaceLeavesOutWaitsAndPauses) {
    // 20 and 30 us between launches; then a wait for the GPU, and later a pause of 2 ms.
    const TraceWorkload workload =
        TraceText()
            .launch("a", "0", "7", "10", "5")
            .launch("b", "20", "7", "30", "5")
            .launch("c", "50", "7", "60", "5")
            .event("cuda_runtime", "cudaDeviceSynchronize", "1", "60", "40")
            .launch("d", "110", "7", "120", "5")
            .launch("e", "2110", "7", "2120", "5")
            .read();
    const HostPace& host = workload.files.front().host;
    EXPECT_EQ(host.launches, 2U);
    EXPECT_EQ(host.between, microseconds(25));
    EXPECT_EQ(host.calls, 0U);
}

TEST(KinetoReader, StreamsKeepStartOrderAndGapsAreWhatNothingExplains) {
    const TraceWorkload workload = TraceText()
                                       .launch("a", "0", "7", "10", "20")
                                       .launch("b", "3", "7", "35", "5")
                                       .launch("c", "50", "7", "58", "1")
                                       .read();
    check(workload.graph);
    EXPECT_EQ(only(workload, "a").gap, microseconds(10)) << "launch latency";
    EXPECT_EQ(only(workload, "b").gap, microseconds(5)) << "after a";
    EXPECT_EQ(only(workload, "c").gap, microseconds(8)) << "after its launch";
    EXPECT_EQ(evaluated_start(workload, "c"), microseconds(58));
    EXPECT_EQ(workload.graph.provenance.measured_iteration, microseconds(59));
}

TEST(KinetoReader, ACollectiveWaitsForTheStreamThatWasCurrent) {
    const TraceWorkload workload = TraceText()
                                       .launch("gradient", "0", "7", "10", "20")
                                       .launch(kAllReduce, "5", "20", "33", "40")
                                       .launch("beside", "8", "7", "30", "10")
                                       .read();
    EXPECT_TRUE(depends_on(workload, only(workload, kAllReduce), "gradient"));
    EXPECT_EQ(only(workload, kAllReduce).gap, microseconds(3));
    EXPECT_FALSE(depends_on(workload, only(workload, "beside"), kAllReduce));
}

TEST(KinetoReader, AWaitFindsTheCollective) {
    const auto wait = [](TraceText& text, const char* time) {
        text.event("cuda_runtime", "cudaStreamWaitEvent", "1", time, "1");
    };
    TraceText text;
    text.launch("gradient", "0", "7", "10", "20");
    text.launch("ncclKernel_AllReduce_first", "5", "20", "30", "40");
    text.launch("ncclKernel_AllReduce_second", "8", "20", "70", "40");
    wait(text, "12");
    text.launch("uses first", "14", "7", "90", "5");
    wait(text, "17");
    text.launch("uses second", "19", "7", "111", "5");
    text.launch("free", "22", "7", "130", "5");
    const TraceWorkload workload = text.read();
    EXPECT_TRUE(depends_on(workload, only(workload, "uses first"), "ncclKernel_AllReduce_first"));
    EXPECT_FALSE(depends_on(workload, only(workload, "uses first"), "ncclKernel_AllReduce_second"));
    EXPECT_TRUE(depends_on(workload, only(workload, "uses second"), "ncclKernel_AllReduce_second"));
    EXPECT_FALSE(depends_on(workload, only(workload, "free"), "ncclKernel_AllReduce_second"));
}

TEST(KinetoReader, WaitsThatIssueACollectiveHoldUpNobodyElse) {
    TraceText text;
    text.launch("gradient", "0", "7", "10", "20");
    text.event("user_annotation", "nccl:all_reduce", "1", "4", "10");
    text.launch(kAllReduce, "6", "20", "31", "4");
    text.event("cuda_runtime", "cudaStreamWaitEvent", "1", "9", "1");
    text.launch("next", "20", "7", "60", "5");
    const TraceWorkload workload = text.read();
    EXPECT_FALSE(depends_on(workload, only(workload, "next"), kAllReduce));
}

TEST(KinetoReader, NoDependencyContradictsTheTrace) {
    TraceText text;
    text.launch(kAllReduce, "0", "20", "10", "100");
    text.event("cuda_runtime", "cudaStreamWaitEvent", "1", "5", "1");
    text.launch("early", "7", "7", "50", "5");
    const TraceWorkload workload = text.read();
    EXPECT_FALSE(depends_on(workload, only(workload, "early"), kAllReduce));
    EXPECT_EQ(evaluated_start(workload, "early"), microseconds(50));
}

TEST(KinetoReader, SynchronisingCallsWaitForTheGpu) {
    TraceText text;
    text.launch("long", "0", "7", "5", "100");
    text.event("cuda_runtime", "cudaDeviceSynchronize", "1", "10", "98");
    text.launch("after", "110", "7", "115", "5");
    const TraceWorkload workload = text.read();
    const RankGraph& rank = *workload.graph.ranks[0];
    EXPECT_EQ(evaluated_start(workload, "after"), microseconds(115));
    // A kernel that takes 100 us longer delays the host by as much.
    const Schedule slower = evaluate(rank, [&](std::uint32_t, const Operation& o) {
        return workload.graph.names[o.name] == "long" ? microseconds(200) : measured_duration(o);
    });
    EXPECT_EQ(slower.makespan, microseconds(120 + 100));
}

TEST(KinetoReader, IsolatedDurationsComeFromOtherSteps) {
    TraceText text;
    text.event("user_annotation", "ProfilerStep#5", "1", "0", "100");
    text.event("user_annotation", "ProfilerStep#6", "1", "100", "100");
    text.event("user_annotation", "ProfilerStep#7", "1", "200", "100");
    text.launch("k", "0", "7", "10", "10");
    text.launch("k", "100", "7", "110", "12");
    text.launch("k", "200", "7", "210", "15");
    text.launch(kAllReduce, "201", "20", "205", "30");
    text.launch("never alone", "202", "7", "226", "5");
    const TraceWorkload workload = text.read();
    const auto k = named(workload, "k");
    ASSERT_EQ(k.size(), 3U);
    EXPECT_EQ(workload.graph.steps, 3U);
    EXPECT_EQ(k[0]->step, 0U);
    EXPECT_EQ(k[2]->step, 2U);
    const auto& alone = std::get<KernelOperation>(k[0]->body);
    const auto& overlapped = std::get<KernelOperation>(k[2]->body);
    EXPECT_EQ(alone.isolated, microseconds(10)) << "its own measurement, not the median";
    EXPECT_EQ(alone.duration_source, DurationSource::kMeasuredAlone);
    EXPECT_EQ(overlapped.measured, microseconds(15));
    EXPECT_EQ(overlapped.isolated, microseconds(11)) << "median of 10 and 12";
    EXPECT_EQ(overlapped.duration_source, DurationSource::kOtherOccurrence);
    const auto& never = std::get<KernelOperation>(only(workload, "never alone").body);
    EXPECT_EQ(never.isolated, microseconds(5));
    EXPECT_EQ(never.duration_source, DurationSource::kMeasuredOverlapped);
}

TEST(KinetoReader, OtherLayersStandInOnlyIfTheyTakeNoLonger) {
    TraceText text;
    text.event("user_annotation", "ProfilerStep#5", "1", "0", "100");
    text.event("user_annotation", "ProfilerStep#6", "1", "100", "100");
    for (const int step : {0, 100}) {
        const auto at = [&](int us) { return std::to_string(step + us); };
        text.launch(kAllReduce, at(1), "20", at(5), "30");
        // In each step the first "small layer first" overlaps the all-reduce, and the second does
        // not.
        text.launch("small layer first", at(2), "7", at(6), "4");
        text.launch("slowed", at(3), "7", at(11), "24");
        text.launch("small layer first", at(40), "7", at(45), "20");
        text.launch("slowed", at(41), "7", at(66), "20");
    }
    const TraceWorkload workload = text.read();
    const auto& small =
        std::get<KernelOperation>(named(workload, "small layer first").front()->body);
    EXPECT_EQ(small.isolated, microseconds(4)) << "nothing is faster beside communication";
    EXPECT_EQ(small.duration_source, DurationSource::kMeasuredOverlapped);
    const auto& slowed = std::get<KernelOperation>(named(workload, "slowed").front()->body);
    EXPECT_EQ(slowed.isolated, microseconds(20));
    EXPECT_EQ(slowed.duration_source, DurationSource::kOtherOccurrence);
}

TEST(KinetoReader, DurationsOfASyntheticTraceAreModelled) {
    TraceText text;
    text.header(
        R"("switchfold_synthetic": true, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 84000000000}], "distributedInfo": {"rank": 0, "world_size": 2},)");
    text.launch("alone", "0", "7", "10", "10");
    text.launch(kAllReduce, "101", "20", "105", "60");
    text.launch("beside", "102", "7", "126", "5");
    const TraceWorkload workload = text.read();
    for (const char* name : {"alone", "beside"}) {
        const auto& kernel = std::get<KernelOperation>(only(workload, name).body);
        EXPECT_EQ(kernel.duration_source, DurationSource::kModel) << name;
        EXPECT_EQ(kernel.isolated, kernel.measured) << name;
    }
    EXPECT_EQ(workload.files.front().durations.at("model"), 2U);
}

TEST(KinetoReader, ASimulatedTimelineIsSyntheticAndItsDurationsAreNotIsolated) {
    TraceText text;
    text.header(
        R"("switchfold_simulated": true, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 84000000000}], "distributedInfo": {"rank": 0, "world_size": 2},)");
    text.launch("alone", "0", "7", "10", "10");
    text.launch(kAllReduce, "101", "20", "105", "60");
    text.launch("beside", "102", "7", "126", "5");
    const TraceWorkload workload = text.read();
    EXPECT_TRUE(workload.files.front().synthetic);
    EXPECT_TRUE(workload.graph.provenance.synthetic);
    EXPECT_EQ(
        std::get<KernelOperation>(only(workload, "alone").body).duration_source,
        DurationSource::kMeasuredAlone);
    EXPECT_EQ(
        std::get<KernelOperation>(only(workload, "beside").body).duration_source,
        DurationSource::kMeasuredOverlapped);
}

TEST(KinetoReader, BlocksThatATraceDoesNotStateAreTheModelsChoice) {
    TraceText text;
    text.launch("kernel", "0", "7", "10", "10");
    text.event("kernel", kAllReduce, "20", "30", "60", R"("stream": 20, "correlation": 77)");
    text.launch(kAllReduce, "101", "20", "105", "60");
    const TraceWorkload workload = text.read();
    const auto found = named(workload, kAllReduce);
    ASSERT_EQ(found.size(), 2U);
    const auto& silent = std::get<CollectiveOperation>(found[0]->body);
    EXPECT_EQ(silent.thread_blocks, 0U);
    EXPECT_EQ(silent.threads_per_block, 0U);
    EXPECT_EQ(std::get<CollectiveOperation>(found[1]->body).thread_blocks, 8U);
}

TEST(KinetoReader, CollectiveSizesFromTheKernelsOwnCounts) {
    const TraceWorkload workload =
        TraceText()
            .launch(
                kAllReduce, "0", "20", "10", "100",
                R"("Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "BFloat16", "Group size": 2, "Process Group Name": "tp", "Process Group Ranks": "[0, 1]")")
            .launch(
                "ncclDevKernel_Generic(x)", "5", "20", "110", "100",
                R"("Collective name": "_allgather_base", "In msg nelems": 500, "Out msg nelems": 1000, "dtype": "Float", "Group size": 2)")
            .read();
    const auto& reduce = collective(workload, kAllReduce);
    EXPECT_EQ(reduce.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(reduce.bytes, Bytes(2000));
    EXPECT_EQ(reduce.datatype, Datatype::kBfloat16);
    EXPECT_EQ(reduce.size_source, SizeSource::kTrace);
    EXPECT_EQ(reduce.algorithm, "") << "NCCL runs rings, CollNet, PAT and NVLS by that name";
    EXPECT_EQ(reduce.protocol, "");
    EXPECT_EQ(workload.files[0].algorithms.at("not told"), 2U);
    EXPECT_EQ(reduce.thread_blocks, 8U);
    EXPECT_EQ(reduce.threads_per_block, 128U);
    EXPECT_EQ(workload.graph.groups[reduce.group].name, "tp");
    const auto& gather = collective(workload, "ncclDevKernel_Generic(x)");
    EXPECT_EQ(gather.kind, CollectiveKind::kAllGather);
    EXPECT_EQ(gather.bytes, Bytes(4000)) << "the output, as nccl-tests counts it";
}

TEST(KinetoReader, NamesThatTellTheAlgorithm) {
    EXPECT_EQ(kernel_algorithm("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), "");
    EXPECT_EQ(kernel_algorithm("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)"), "");
    EXPECT_EQ(kernel_algorithm("ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevComm*)"), "tree");
    EXPECT_EQ(kernel_algorithm("ncclDevKernel_Generic(ncclDevKernelArgs)"), "");
    EXPECT_EQ(
        kernel_algorithm("ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_Sum_f32(ncclSymDevArgs)"),
        "nvls");
    EXPECT_EQ(kernel_algorithm("ncclSymkDevKernel_AllGather_LLMC(ncclSymDevArgs)"), "nvls");
    EXPECT_EQ(kernel_algorithm("ncclSymkDevKernel_AllReduce_AGxLL_R_Sum_f32(MCArgs)"), "symmetric");
}

TEST(KinetoReader, CollectiveSizesFromTheIssuingCall) {
    TraceText text;
    text.event(
        "user_annotation", "nccl:_all_gather_base", "1", "0", "10",
        R"("External id": 3, "Input Dims": [[512, 2]], "Input type": ["c10::Half"])");
    text.event("cpu_op", "record_param_comms", "1", "1", "1");
    text.launch(
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", "2", "20", "20", "100",
        R"("External id": 1)");
    text.launch("ncclKernel_AllReduce_RING_LL_Sum_half(x)", "50", "20", "150", "100");
    const TraceWorkload workload = text.read();
    const auto& gather = collective(workload, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)");
    EXPECT_EQ(gather.kind, CollectiveKind::kAllGather) << "the call knows better than the kernel";
    EXPECT_EQ(gather.bytes, Bytes(512 * 2 * 2 * 2)) << "two ranks give that much each";
    EXPECT_EQ(gather.datatype, Datatype::kFloat16);
    const auto& unknown = collective(workload, "ncclKernel_AllReduce_RING_LL_Sum_half(x)");
    EXPECT_EQ(unknown.bytes, Bytes(0)) << "launched outside any call";
    EXPECT_EQ(unknown.size_source, SizeSource::kEstimatedFromDuration);
    EXPECT_EQ(unknown.datatype, Datatype::kFloat16);
    EXPECT_EQ(unknown.sequence, 1U) << "second of its group";
}

TEST(KinetoReader, BytesFromTheLaunchingOperatorOrByDefault) {
    TraceText text;
    text.event(
        "cpu_op", "aten::add", "1", "0", "10",
        R"("External id": 1, "Input Dims": [[1000000], [1000000]], "Input type": ["float", "float"])");
    // Profilers of 2022 write the correlation ID as the external ID, which then names no operator.
    text.launch("vectorized_elementwise_kernel", "2", "7", "20", "10", R"("External id": 1)");
    text.launch("other_elementwise_kernel", "50", "7", "60", "10");
    const TraceWorkload workload = text.read();
    const auto& known =
        std::get<KernelOperation>(only(workload, "vectorized_elementwise_kernel").body);
    EXPECT_EQ(known.byte_source, ByteSource::kShapes);
    EXPECT_EQ(known.bytes_read, Bytes(8'000'000));
    EXPECT_EQ(known.bytes_written, Bytes(4'000'000));
    const auto& unknown =
        std::get<KernelOperation>(only(workload, "other_elementwise_kernel").body);
    EXPECT_EQ(unknown.byte_source, ByteSource::kClassDefault);
    // The most that an H100 can move in 10 us at 3.35 TB/s.
    EXPECT_LE((unknown.bytes_read + unknown.bytes_written).count(), 33'500'000U);
    EXPECT_GT((unknown.bytes_read + unknown.bytes_written).count(), 0U);
}

TEST(KinetoReader, NoKernelMovesMoreThanThePeakAllows) {
    TraceText text;
    text.event(
        "cpu_op", "aten::add", "1", "0", "10",
        R"("Input Dims": [[1000000000], [1000000000]], "Input type": ["float", "float"])");
    text.launch("vectorized_elementwise_kernel", "2", "7", "20", "10");
    const TraceWorkload workload = text.read();
    const auto& kernel =
        std::get<KernelOperation>(only(workload, "vectorized_elementwise_kernel").body);
    EXPECT_LE((kernel.bytes_read + kernel.bytes_written).count(), 33'500'000U);
    EXPECT_NEAR(
        static_cast<double>(kernel.bytes_read.count()),
        2 * static_cast<double>(kernel.bytes_written.count()), 2)
        << "the proportion stays";
}

TEST(KinetoReader, PhasesByAnnotationOrAutogradThread) {
    TraceText text;
    text.event("cpu_op", "aten::relu", "1", "0", "9");
    text.launch("forward", "1", "7", "10", "2");
    text.event("cpu_op", "autograd::engine::evaluate_function: ReluBackward0", "2", "20", "9");
    text.launch("backward", "21", "7", "30", "2", "", "2");
    text.event("user_annotation", "Optimizer.step#SGD.step", "1", "40", "9");
    text.launch("optimizer", "41", "7", "50", "2");
    text.launch("after", "60", "7", "70", "2");
    const TraceWorkload workload = text.read();
    EXPECT_EQ(only(workload, "forward").phase, Phase::kForward);
    EXPECT_EQ(only(workload, "backward").phase, Phase::kBackward);
    EXPECT_EQ(only(workload, "optimizer").phase, Phase::kOptimizer);
    EXPECT_EQ(only(workload, "after").phase, Phase::kOther);
}

TEST(KinetoReader, OldTracesSpellThingsDifferently) {
    TraceText text;
    text.event("Operator", "ProfilerStep#3", "1", "0", "100", R"("External id": 1)");
    text.event("Operator", "CudnnConvolutionBackward", "2", "20", "20", R"("External id": 2)");
    text.event(
        "Runtime", "cudaLaunchKernel", "2", "21", "2", R"("correlation": 9, "external id": 2)");
    text.event(
        "Kernel", "dgrad", "\"stream 7\"", "30", "5",
        R"("stream": 7, "correlation": 9, "external id": 2)");
    text.event(
        "Memcpy", "Memcpy HtoD (Pageable -> Device)", "\"stream 7\"", "40", "5",
        R"("stream": 7, "bytes": 640)");
    const TraceWorkload workload = text.read();
    EXPECT_EQ(only(workload, "dgrad").phase, Phase::kBackward);
    const auto& copy =
        std::get<CopyOperation>(only(workload, "Memcpy HtoD (Pageable -> Device)").body);
    EXPECT_EQ(copy.kind, CopyKind::kHostToDevice);
    EXPECT_EQ(copy.bytes, Bytes(640));
    EXPECT_EQ(workload.files[0].streams, 1U);
}

TEST(KinetoReader, CopiesBetweenGpusAreTold) {
    const auto warnings = [](const std::string& name) {
        TraceText text;
        text.event(
            "Kernel", "sgemm", "\"stream 7\"", "30", "5",
            R"("stream": 7, "grid": [8, 1, 1], "block": [256, 1, 1])");
        text.event(
            "gpu_memcpy", name, "\"stream 9\"", "31", "5", R"("stream": 9, "bytes": 1048576)");
        return text.read().files[0].warnings;
    };
    const auto told = [](const std::string& warning) {
        return warning.find("1 copy between GPUs (1 MiB) keeps the traced time") !=
               std::string::npos;
    };
    EXPECT_EQ(std::ranges::count_if(warnings("Memcpy PtoP (Device -> Device)"), told), 1);
    EXPECT_EQ(std::ranges::count_if(warnings("Memcpy DtoD (Device -> Device)"), told), 0);
}

TEST(KinetoReader, AmdShapesComeFromTheCall) {
    TraceText text;
    text.event(
        "cuda_runtime", "hipExtModuleLaunchKernel", "1", "0", "2",
        R"("correlation": 1, "grid": [65536, 2, 1], "block": [256, 1, 1])");
    text.event("kernel", "Cijk_gemm", "0", "10", "5", R"("stream": 0, "correlation": 1)");
    const TraceWorkload workload = text.read();
    const auto& kernel = std::get<KernelOperation>(only(workload, "Cijk_gemm").body);
    EXPECT_EQ(kernel.grid, (Dim3{256, 2, 1})) << "the call counts work items";
    EXPECT_EQ(kernel.block, (Dim3{256, 1, 1}));
}

TEST(KinetoReader, WorkFromBeforeTheTraceIsLeftOut) {
    TraceText text;
    text.event("kernel", "left over", "7", "0", "50", R"("stream": 7, "correlation": 77)");
    text.launch("k", "5", "7", "50", "10");
    const TraceWorkload workload = text.read();
    EXPECT_TRUE(named(workload, "left over").empty());
    EXPECT_EQ(workload.files[0].dropped.at("GPU operations launched before the trace began"), 1U);
    EXPECT_EQ(only(workload, "k").gap, Time()) << "what held it up is not there";
}

TEST(KinetoReader, WorkWithoutALaunchKeepsItsPlace) {
    TraceText text;
    text.launch("first", "0", "7", "5", "10");
    text.event("kernel", "graph node", "7", "20", "10", R"("stream": 7, "correlation": 77)");
    text.launch("last", "2", "7", "40", "10");
    const TraceWorkload workload = text.read();
    EXPECT_EQ(evaluated_start(workload, "graph node"), microseconds(20));
    EXPECT_EQ(evaluated_start(workload, "last"), microseconds(40));
}

/// A step has two calls behind kernels of one name; the first step's began before the trace.
TraceText steps_with_calls(const std::vector<std::pair<std::string, int>>& calls) {
    TraceText text;
    text.launch("k", "0", "7", "5", "10");
    const std::string kernel = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)";
    int at = 100;
    for (const auto& [call, elements] : calls) {
        if (call.empty()) {
            text.event(
                "kernel", kernel, "20", std::to_string(at + 10), "20",
                R"("stream": 20, "correlation": 7777, "grid": [8, 1, 1], "block": [128, 1, 1])");
        } else {
            text.event(
                "user_annotation", call, "1", std::to_string(at), "10",
                fmt::format(
                    R"("External id": {}, "Input Dims": [[{}]], "Input type": ["float"])", at,
                    elements));
            text.launch(kernel, std::to_string(at + 2), "20", std::to_string(at + 10), "20");
        }
        at += 100;
    }
    return text;
}

std::vector<std::pair<CollectiveKind, std::uint64_t>> collectives_of(const TraceText& text) {
    std::vector<std::pair<CollectiveKind, std::uint64_t>> found;
    const TraceWorkload workload = text.read();
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
            found.emplace_back(collective->kind, collective->bytes.count());
    return found;
}

TEST(KinetoReader, CollectivesWithoutACallAreThoseOfOtherStepsInTheirPlace) {
    const TraceText text = steps_with_calls(
        {{"", 0},
         {"nccl:all_to_all", 64},
         {"nccl:all_reduce", 512},
         {"nccl:all_to_all", 64},
         {"nccl:all_reduce", 512},
         {"", 0}});
    const auto reduce = std::pair(CollectiveKind::kAllReduce, std::uint64_t{2048});
    const auto exchange = std::pair(CollectiveKind::kAllToAll, std::uint64_t{256});
    EXPECT_EQ(
        collectives_of(text), (std::vector{reduce, exchange, reduce, exchange, reduce, exchange}));
    const std::vector<std::string> warnings = text.read().files[0].warnings;
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
        return warning.find("lacks the calls of 2 collectives") != std::string::npos;
    }));
}

TEST(KinetoReader, CollectivesThatDoNotRepeatTellNothingOfOthers) {
    // Other sizes in each step, or each place seen only once.
    for (const TraceText& text :
         {steps_with_calls({{"", 0}, {"nccl:all_reduce", 8}, {"nccl:all_reduce", 9}}),
          steps_with_calls({{"", 0}, {"nccl:all_reduce", 8}})}) {
        const auto found = collectives_of(text);
        EXPECT_EQ(found.front(), std::pair(CollectiveKind::kAllToAll, std::uint64_t{0}));
    }
}

TEST(KinetoReader, ReportsWhatWasDroppedAndWhy) {
    TraceText text;
    text.launch("k", "0", "7", "5", "10");
    text.event("python_function", "train.py(1): f", "1", "0", "10");
    text.event("gpu_user_annotation", "nccl:all_reduce", "7", "0", "10");
    text.event("user_annotation", "my own mark", "1", "0", "10");
    text.raw(R"({"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "ts": 3})");
    text.raw(R"({"ph": "M", "name": "process_name", "args": {"name": "python"}})");
    const TraceFileReport report = text.read().files[0];
    EXPECT_EQ(report.events, 7U);
    EXPECT_EQ(report.dropped.at("Python frames"), 1U);
    EXPECT_EQ(report.dropped.at("annotations mirrored on the GPU"), 1U);
    EXPECT_EQ(report.dropped.at("annotations that name no phase"), 1U);
    EXPECT_EQ(report.dropped.at("flow arrows"), 1U);
    EXPECT_EQ(report.dropped.at("metadata"), 1U);
    std::uint64_t all = 0;
    for (const auto* counts : {&report.used, &report.dropped})
        for (const auto& [what, count] : *counts)
            all += count;
    EXPECT_EQ(all, report.events) << "every event is used or dropped";
}

TEST(KinetoReader, SeveralRanksInTheirOrder) {
    const auto rank = [](int number, const char* duration) {
        return TraceText()
            .header(fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}},)", number))
            .launch(kAllReduce, "0", "20", "10", duration)
            .text();
    };
    const TemporaryFile one("1.json", rank(1, "100"));
    const TemporaryFile zero("0.json", rank(0, "200"));
    const TraceWorkload workload = read_kineto({{one.path(), zero.path()}});
    check(workload.graph);
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    const auto measured = [&](std::size_t r) {
        return std::get<CollectiveOperation>(workload.graph.ranks[r]->operations.back().body)
            .measured;
    };
    EXPECT_EQ(measured(0), microseconds(200));
    EXPECT_EQ(measured(1), microseconds(100));
    ASSERT_EQ(workload.graph.groups.size(), 1U) << "the world is one group";
    EXPECT_EQ(workload.graph.provenance.traced_ranks, 2U);
}

TEST(KinetoReader, OneRankStandsForMany) {
    TraceWorkload workload = TraceText().launch(kAllReduce, "0", "20", "10", "100").read();
    const WholeRun run = complete_run(workload, 4, true);
    EXPECT_TRUE(run.problems.empty());
    check(workload.graph);
    ASSERT_EQ(workload.graph.ranks.size(), 4U);
    EXPECT_EQ(workload.graph.ranks[0], workload.graph.ranks[3]) << "shared, not copied";
    EXPECT_EQ(workload.graph.groups[0].ranks, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(workload.graph.provenance.traced_ranks, 1U);
}

}  // namespace
}  // namespace switchfold::kineto_reader_test
