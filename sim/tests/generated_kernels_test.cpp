// SPDX-License-Identifier: Apache-2.0
// Generated kernels stay below the roofline of their GPU.
#include "core/params_reader.h"
#include "sim/config/load.h"
#include "sim/config/shipped_gpus.h"
#include "sim/machine/simulate.h"
#include "sim/workload/kernel_model.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/training_workload.h"
#include "training/network/zoo/zoo.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace switchfold::generated_kernels_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/generated.json";

TrainingWorkloadParams training_of(std::string_view network, std::string_view more) {
    return read_params<TrainingWorkloadParams>(
        OrderedJson::parse(fmt::format(R"({{"network": "{}"{}}})", network, more)), kFile.string());
}

/// The kernels of a step, one after the other, each kind once.
ExecutionGraph kernels_of(const ExecutionGraph& step) {
    ExecutionGraph graph;
    graph.names = {"kernel"};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "7", 0}};
    std::set<std::tuple<Time, Bytes, Bytes, std::uint64_t>> seen;
    for (const Operation& operation : step.ranks.at(0)->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body);
            kernel != nullptr && seen.insert({kernel->isolated, kernel->bytes_read,
                                              kernel->bytes_written, kernel->grid.count()})
                                     .second) {
            Operation one;
            one.body = *kernel;
            rank->operations.push_back(one);
        }
    graph.ranks = {rank};
    return graph;
}

class Roofline {
public:
    Roofline() : system_(load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {})) {}

    void expect_below(const ExecutionGraph& step, const GpuParams& gpu, std::string_view what) {
        const ExecutionGraph kernels = kernels_of(step);
        expect_below_alone(kernels, gpu, what);
        expect_below_simulated(kernels, gpu, what);
    }

    void
    expect_below_alone(const ExecutionGraph& graph, const GpuParams& gpu, std::string_view what) {
        const GpuRates rates = gpu_rates(gpu);
        for (const Operation& operation : graph.ranks[0]->operations) {
            const auto& kernel = std::get<KernelOperation>(operation.body);
            const double bytes =
                static_cast<double>((kernel.bytes_read + kernel.bytes_written).count());
            ASSERT_GE(kernel.l2_share, 0.0F) << gpu.name << ", " << what;
            ASSERT_LE(kernel.l2_share, 1.0F) << gpu.name << ", " << what;
            EXPECT_LE(
                bytes * (1 - double{kernel.l2_share}),
                rates.read_bandwidth * to_seconds(kernel.isolated) * 1.0001)
                << gpu.name << ", " << what;
        }
    }

    void expect_below_simulated(
        const ExecutionGraph& graph, const GpuParams& gpu, std::string_view what) {
        system_.gpu.value = gpu;
        const Outcome outcome = simulate(system_, graph, ring_policy());
        for (const std::string& note : outcome.notes)
            EXPECT_EQ(note.find("bytes were cut"), std::string::npos)
                << gpu.name << ", " << what << ": " << note;
    }

private:
    SystemParams system_;
};

ExecutionGraph graph_of(const TrainingWorkloadParams& workload, const GpuParams& gpu) {
    PlanProblems problems;
    const auto plan = prepare_plan(workload, gpu, kFile.parent_path(), problems);
    EXPECT_TRUE(problems.empty()) << problems.front().second;
    return plan->graph();
}

ExecutionGraph planned(std::string_view network, const GpuParams& gpu) {
    return graph_of(training_of(network, R"(, "plan": {"micro_batch": 2})"), gpu);
}

constexpr std::size_t kGenerations = 5;

/// Any size of network is to be generated, whether or not it fits.
GpuParams without_capacity(GpuParams gpu) {
    gpu.memory.capacity = Bytes(0);
    gpu.memory.reserve = Bytes(0);
    return gpu;
}

TEST(GeneratedKernels, OfEveryNetworkStayBelowTheRoofline) {
    Roofline roofline;
    std::set<MatrixUnits> seen;
    for (const GpuParams& shipped : shipped_gpus(kFile)) {
        // A GPU of each generation.
        if (!seen.insert(shipped.arithmetic.units).second)
            continue;
        const GpuParams gpu = without_capacity(shipped);
        std::size_t at = seen.size();
        for (const std::string_view network : network_names()) {
            const ExecutionGraph kernels = kernels_of(planned(network, gpu));
            roofline.expect_below_alone(kernels, gpu, network);
            // Kernels of thousands of waves take long: each network on one generation in turn.
            if (++at % kGenerations == 0)
                roofline.expect_below_simulated(kernels, gpu, network);
        }
    }
    EXPECT_EQ(seen.size(), kGenerations);
}

TEST(GeneratedKernels, OnEveryGpuStayBelowTheRoofline) {
    Roofline roofline;
    for (const GpuParams& shipped : shipped_gpus(kFile)) {
        const GpuParams gpu = without_capacity(shipped);
        for (const char* network : {"resnet50", "gpt2_xl", "vgg16"})
            roofline.expect_below(planned(network, gpu), gpu, network);
        for (const char* strategy : {"data_parallel", "fully_sharded", "optimizer_sharded"})
            roofline.expect_below(
                graph_of(
                    with_preset(
                        training_of(
                            "resnet50", fmt::format(R"(, "batch": 8, "strategy": "{}")", strategy)),
                        8),
                    gpu),
                gpu, strategy);
    }
}

}  // namespace
}  // namespace switchfold::generated_kernels_test
