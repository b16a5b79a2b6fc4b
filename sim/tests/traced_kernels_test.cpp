// SPDX-License-Identifier: Apache-2.0
// Kernels of a trace on GPUs that differ from the traced one.
#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/config/shipped_gpus.h"
#include "sim/workload/workload.h"
#include "workloads/tests/trace_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace switchfold::traced_kernels_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/traced.json";

/// A call that launches 5,000 blocks of 128 threads.
void launch(
    test_data::TraceText& text, const char* kernel, int correlation, const char* called,
    const char* start, const char* duration) {
    text.event(
        "cuda_runtime", "cudaLaunchKernel", "1", called, "2",
        fmt::format(R"("correlation": {})", correlation));
    text.event(
        "kernel", kernel, "7", start, duration,
        fmt::format(
            R"("stream": 7, "correlation": {}, "grid": [5000, 1, 1], "block": [128, 1, 1])",
            correlation));
}

/// A product of 4096 x 4096 x 4096, a sum of 64 M numbers, and a kernel of which nothing but its
/// launch is known.
test_data::TraceText trace_of(const std::string& gpu) {
    test_data::TraceText text;
    text.header(fmt::format(
        R"("deviceProperties": [{{{}}}], "distributedInfo": {{"rank": 0, "world_size": 1}},)",
        gpu));
    text.event(
        "cpu_op", "aten::mm", "1", "0", "9",
        R"("External id": 1, "Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"])");
    launch(text, "sm90_bf16_gemm", 1, "1", "20", "200");
    text.event(
        "cpu_op", "aten::add_", "1", "10", "9",
        R"("External id": 2, "Input Dims": [[67108864], [67108864]], "Input type": ["c10::BFloat16", "c10::BFloat16"])");
    launch(text, "vectorized_elementwise_kernel", 2, "11", "230", "160");
    launch(text, "something_else", 3, "30", "400", "100");
    return text;
}

const char* const kH100 = R"("id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132, )"
                          R"("totalGlobalMem": 84942979072)";

struct Alone {
    std::vector<double> us;  ///< product, sum, the other
    std::vector<std::string> notes;
    [[nodiscard]] bool notes_have(const std::string& words) const {
        return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
            return note.find(words) != std::string::npos;
        });
    }
};

Alone alone(
    const std::string& gpu, const std::string& system, const std::vector<std::string>& sets = {},
    const std::string& more = "") {
    const test_data::TemporaryFile file("trace.json", trace_of(gpu).text());
    const std::string text = fmt::format(
        R"({{"name": "traced", "system": "../systems/{}.json", "scenarios": [{{"name": "ring"}}],
             "workload": {{"type": "trace", "files": ["{}"]{}}}}})",
        system, file.path().string(), more);
    std::vector<Override> overrides;
    for (const std::string& set : sets)
        overrides.push_back(parse_override(set));
    const PreparedWorkload prepared =
        prepare_workload(load_experiment(Json::parse(text), kFile, overrides));
    Alone result;
    for (const Operation& operation : prepared.graph.ranks.at(0)->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            result.us.push_back(to_microseconds(kernel->isolated));
    result.notes = prepared.report.notes;
    return result;
}

const std::vector<double> kTraced{200, 160, 100};

TEST(TracedKernels, AreExactOnTheTracedGpu) {
    for (const char* more :
         {"", R"(, "kernel_times": "as_traced")", R"(, "kernel_times": "rescaled")"}) {
        const Alone same = alone(kH100, "hgx_h100", {}, more);
        EXPECT_EQ(same.us, kTraced) << more;
        EXPECT_FALSE(same.notes_have("kernels alone take")) << more;
    }
}

TEST(TracedKernels, FollowWhatIsSetOfTheGpu) {
    const auto with = [](const std::string& set) {
        return alone(kH100, "hgx_h100", {"/system/gpu/" + set}).us;
    };
    const std::vector<double> half_sms = with("sms=66");
    EXPECT_NEAR(half_sms[0], 400, 40);
    EXPECT_GT(half_sms[2], 110);
    const std::vector<double> fast = with("clock=1.5");
    EXPECT_GT(fast[0], 200 / 1.5);  // the memory's part stays
    EXPECT_LT(fast[0], 160);
    EXPECT_LT(fast[2], 95);
    const std::vector<double> memory = with("memory/hbm/peak=6700 GB/s");
    EXPECT_LT(memory[1], 120);
    EXPECT_LT(memory[2], 95);
    EXPECT_LE(memory[0], 200.01);
    const std::vector<double> cache = with("memory/l2/capacity=512 MiB");
    EXPECT_LT(cache[1], 150);
    EXPECT_LE(cache[0], 200.01);
    EXPECT_TRUE(alone(kH100, "hgx_h100", {"/system/gpu/sms=66"}).notes_have("times as long on"));
    EXPECT_EQ(
        alone(kH100, "hgx_h100", {"/system/gpu/sms=66"}, R"(, "kernel_times": "as_traced")").us,
        kTraced);
}

TEST(TracedKernels, FollowAnotherGpu) {
    const Alone a100 = alone(kH100, "hgx_a100");
    EXPECT_GT(a100.us[0], 450);
    EXPECT_NEAR(a100.us[1], 160 * 3350.0 / 2039, 20);
    EXPECT_TRUE(a100.notes_have("on NVIDIA A100"));
    EXPECT_TRUE(a100.notes_have("1 by the shapes of their operators, 1 by their bytes, 1 by their "
                                "launches alone: between"));
    const Alone forced = alone(kH100, "hgx_a100", {}, R"(, "kernel_times": "as_traced")");
    EXPECT_EQ(forced.us, kTraced);
    EXPECT_TRUE(forced.notes_have("kernels alone take as long as there, on NVIDIA A100"));
    // A system that takes the place of the experiment's is another machine, not a changed one.
    EXPECT_EQ(alone(kH100, "hgx_h100", {"/system=../systems/hgx_a100.json"}).us, a100.us);
}

TEST(TracedKernels, ADescriptionWithOtherSmsIsNotTheTracedGpu) {
    EXPECT_TRUE(describes(shipped_gpus(kFile).at(0), {shipped_gpus(kFile).at(0).name, 0, 0}));
    const auto found =
        best_description(shipped_gpus(kFile), {"NVIDIA H100 PCIe", 114, 85'000'000'000});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->sms, 114U);
    EXPECT_FALSE(best_description(shipped_gpus(kFile), {"NVIDIA H100 PCIe", 100, 0}));
    EXPECT_FALSE(best_description(shipped_gpus(kFile), {"NVIDIA H300", 132, 0}));
    const auto a100 = best_description(shipped_gpus(kFile), {"NVIDIA A100-SXM4-40GB", 108, 0});
    ASSERT_TRUE(a100);
    EXPECT_EQ(a100->name, "NVIDIA A100 SXM4 40 GB");
}

TEST(TracedKernels, AnUnknownGpuIsNotGuessed) {
    const char* const unknown = R"("id": 0, "name": "NVIDIA Z900", "numSms": 200)";
    const Alone kept = alone(unknown, "hgx_h100");
    EXPECT_EQ(kept.us, kTraced);
    EXPECT_TRUE(
        kept.notes_have("the trace was recorded on NVIDIA Z900: kernels alone take as long"));
    try {
        alone(unknown, "hgx_h100", {}, R"(, "kernel_times": "rescaled")");
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.problems().front().pointer, "/workload/kernel_times");
        EXPECT_NE(error.problems().front().message.find("NVIDIA Z900"), std::string::npos);
    }
    // A machine stands for the traced one: the experiment's own, or the one that the user names.
    const Alone set = alone(unknown, "hgx_h100", {"/system/gpu/sms=66"});
    EXPECT_NEAR(set.us[0], 400, 40);
    EXPECT_TRUE(set.notes_have("which stands for the traced GPU"));
    EXPECT_GT(
        alone(unknown, "hgx_h100", {}, R"(, "traced_on": "../systems/hgx_b200.json")").us[0], 300);
}

TEST(TracedKernels, TheEffectiveConfigurationNamesTheTracedMachine) {
    const test_data::TemporaryFile file("trace.json", trace_of(kH100).text());
    const std::string text = fmt::format(
        R"({{"name": "traced", "system": "../systems/hgx_h100.json", "scenarios": [{{"name": "ring"}}],
             "workload": {{"type": "trace", "files": ["{}"]}}}})",
        file.path().string());
    const std::vector<Override> faster{parse_override("/system/gpu/clock=1.5")};
    const LoadedExperiment first = load_experiment(Json::parse(text), kFile, faster);
    const LoadedExperiment again = load_experiment(Json::parse(first.effective_config), kFile, {});
    const PreparedWorkload one = prepare_workload(first);
    const PreparedWorkload other = prepare_workload(again);
    EXPECT_EQ(*one.graph.ranks.at(0), *other.graph.ranks.at(0));
    EXPECT_EQ(first.effective_config, again.effective_config);
}

}  // namespace
}  // namespace switchfold::traced_kernels_test
