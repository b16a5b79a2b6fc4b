// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/step_work.h"

#include "core/error.h"
#include "interconnect/unit_cost.h"
#include "sim/runner.h"

#include <gtest/gtest.h>

#include <fstream>

#include <unistd.h>

namespace switchfold::step_work_test {
namespace {

class ReadRunWork : public ::testing::Test {
protected:
    ReadRunWork() { std::filesystem::create_directories(folder_); }
    ~ReadRunWork() override { std::filesystem::remove_all(folder_); }
    ReadRunWork(const ReadRunWork&) = delete;
    ReadRunWork& operator=(const ReadRunWork&) = delete;
    ReadRunWork(ReadRunWork&&) = delete;
    ReadRunWork& operator=(ReadRunWork&&) = delete;

    ExperimentResult run(const char* json) const {
        RunOptions options;
        options.jobs = 2;
        options.out = folder_;
        return run_experiment(
            load_experiment(
                Json::parse(json), SWITCHFOLD_SOURCE_DIR "/configs/experiments/e.json", {}),
            options);
    }
    [[nodiscard]] std::string problem() const {
        try {
            static_cast<void>(read_run_work(folder_));
            return {};
        } catch (const ConfigError& error) {
            return error.what();
        }
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_work_{}", getpid());
};

TEST_F(ReadRunWork, BytesOfARingAreOnTheLinksBetweenItsGpus) {
    static_cast<void>(run(R"({"name": "ring", "system": "../systems/hgx_h100.json",
        "workload": {"type": "collective", "size": "16 MiB", "ranks": 4},
        "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]})"));
    const RunWork work = read_run_work(folder_);
    ASSERT_EQ(work.steps.size(), 1U);
    const StepWork& step = work.steps[0];
    ASSERT_EQ(step.gpus.size(), 4U);
    EXPECT_EQ(step.gpus[0].gpu, "NVIDIA H100 SXM5 80 GB");
    EXPECT_EQ(step.gpus[0].dense_seconds + step.gpus[0].other_seconds, 0);
    EXPECT_GT(step.gpus[0].communication_sms, 0);
    EXPECT_LT(step.gpus[0].communication_sms, 0.5);
    // 2 (n-1)/n of the payload a rank, up to the switch and down, and headers.
    const double payload = 4 * 1.5 * (16U << 20U) * 2;
    EXPECT_GT(step.gpu_link_bytes, payload);
    EXPECT_LT(step.gpu_link_bytes, 1.3 * payload);
    EXPECT_EQ(step.pcie_bytes, 0);
    EXPECT_EQ(step.network_bytes, 0);
    EXPECT_GT(step.gpus[0].packet_bytes_high, 16U << 20U);
}

TEST_F(ReadRunWork, BetweenMachinesPcieAndNetworkCarryTheSame) {
    static_cast<void>(run(R"({"name": "ring", "system": "../systems/dgx_h100_ndr.json",
        "workload": {"type": "collective", "size": "16 MiB", "ranks": 16},
        "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]})"));
    const StepWork step = read_run_work(folder_).steps.at(0);
    EXPECT_GT(step.gpu_link_bytes, 0);
    EXPECT_GT(step.network_bytes, 2 * 1.875 * (16U << 20U)) << "over two cables: to a leaf, and on";
    EXPECT_GT(step.pcie_bytes, step.network_bytes) << "its headers are larger";
    EXPECT_LT(step.pcie_bytes, 2.5 * step.network_bytes);
}

TEST_F(ReadRunWork, UnitsAddEveryMembersBytesOnce) {
    static_cast<void>(run(R"({"name": "sums", "system": "../systems/hgx_h100.json",
        "workload": {"type": "collective", "size": "16 MiB", "ranks": 8},
        "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}},
                      {"name": "pull", "all_reduce": {"algorithm": "in_switch"}}]})"));
    const RunWork work = read_run_work(folder_);
    const StepWork& pull = work.steps.at(1);
    EXPECT_EQ(work.steps[0].units.high, 0);
    const Topology topology = build_topology(
        load_any_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {}).topology);
    const UnitCost port =
        unit_cost(*topology.switches[topology.nodes[8].switch_class].reduction, {});
    const double bytes = 8 * (16U << 20U);
    EXPECT_NEAR(pull.units.low, bytes * 1e-12 * port.pj_per_byte[0].low, 1e-9 * pull.units.low);
    EXPECT_NEAR(pull.units.high, bytes * 1e-12 * port.pj_per_byte[1].high, 1e-9 * pull.units.high);
    EXPECT_NEAR(pull.units_mm2.low, 8 * 18 * port.mm2().low, 1e-9) << "one a lane";
    EXPECT_EQ(pull.units_mm2.low, work.steps[0].units_mm2.low);
}

TEST_F(ReadRunWork, KernelsOfAStepAreOneStepsAndEveryScenarioHasItsSystem) {
    const ExperimentResult result =
        run(R"({"name": "step", "system": "../systems/hgx_h100.json", "causes": false,
        "workload": {"type": "training", "ranks": 2, "batch": 4, "network": "resnet18"},
        "scenarios": [{"name": "a"}, {"name": "b", "set": {"/system/gpu/name": "other", "/system/gpu/sms": 66}},
                      {"name": "c", "set": {"/system": "../systems/v100_pcie.json"}}]})");
    const RunWork work = read_run_work(folder_);
    ASSERT_EQ(work.steps.size(), 3U);
    EXPECT_EQ(work.steps[1].gpus[0].gpu, "other");
    EXPECT_EQ(work.steps[2].gpus[0].gpu, "Tesla V100 PCIe 16 GB");
    EXPECT_GT(work.steps[2].pcie_bytes, 0);
    EXPECT_EQ(work.steps[2].gpu_link_bytes, 0);
    for (std::size_t i = 0; i < 3; ++i) {
        const GpuStepWork& gpu = work.steps[i].gpus[1];
        EXPECT_GT(gpu.dense_seconds, 0);
        EXPECT_GT(gpu.other_seconds, 0);
        // Kernels one after the other: their isolated time fits the step.
        EXPECT_LT(gpu.dense_seconds + gpu.other_seconds, work.steps[i].seconds);
        EXPECT_GT(
            gpu.dense_seconds + gpu.other_seconds,
            0.8e-6 * (result.scenarios[i].forward_us + result.scenarios[i].backward_us) /
                (1 + result.scenarios[i].backward_slowdown.value_or(0)));
        EXPECT_GT(gpu.kernel_bytes, 1e6);
    }
}

TEST_F(ReadRunWork, OtherRunsAreRefused) {
    EXPECT_NE(problem().find("holds no result.json"), std::string::npos);
    static_cast<void>(run(R"({"name": "two", "system": "../systems/hgx_h100.json", "causes": false,
        "workloads": [
            {"name": "x", "on": "0-3", "workload": {"type": "collective", "size": "1 MiB"}},
            {"name": "y", "on": "4-7", "workload": {"type": "collective", "size": "1 MiB"}}],
        "scenarios": [{"name": "s"}]})"));
    EXPECT_NE(problem().find("/workloads: has several workloads"), std::string::npos);
    static_cast<void>(run(R"({"name": "one", "system": "../systems/hgx_h100.json",
        "workload": {"type": "collective", "size": "1 MiB"}, "scenarios": [{"name": "s"}]})"));
    EXPECT_EQ(problem(), "");
    std::ofstream(folder_ / "effective-config.json")
        << R"({"name": "one", "system": {"devices": [{}]}, "scenarios": []})";
    EXPECT_NE(problem().find("has no system of GPUs"), std::string::npos);
}

TEST(LinkPlace, FollowsWhatALinkJoins) {
    const auto node = [](NodeKind kind, std::uint32_t machine = 0) {
        return TopologyNode{kind, "n", 0, machine};
    };
    using enum NodeKind;
    EXPECT_EQ(place_of(node(kGpu), node(kGpu)), LinkPlace::kGpuLink);
    EXPECT_EQ(place_of(node(kGpu), node(kSwitch)), LinkPlace::kGpuLink);
    EXPECT_EQ(place_of(node(kGpu), node(kNic)), LinkPlace::kPcie);
    EXPECT_EQ(place_of(node(kPcie), node(kNic)), LinkPlace::kPcie);
    EXPECT_EQ(place_of(node(kGpu), node(kHost)), LinkPlace::kPcie);
    EXPECT_EQ(place_of(node(kNic), node(kSwitch, kNoMachine)), LinkPlace::kNetwork);
    EXPECT_EQ(place_of(node(kSwitch, kNoMachine), node(kSwitch, kNoMachine)), LinkPlace::kNetwork);
    EXPECT_EQ(place_of(node(kGpu), node(kSwitch, kNoMachine)), LinkPlace::kNetwork);
}

}  // namespace
}  // namespace switchfold::step_work_test
