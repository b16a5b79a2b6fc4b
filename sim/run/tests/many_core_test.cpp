// SPDX-License-Identifier: Apache-2.0
#include "sim/core/error.h"
#include "sim/run/many_core/offloaded_run.h"
#include "sim/run/many_core/rates.h"
#include "sim/run/runner.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::many_core_test {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs";

LoadedExperiment loaded(const std::vector<Override>& overrides = {}) {
    return load_experiment(kConfigs / "experiments/autoencoder_on_phi.json", overrides);
}

ExperimentResult ran(const std::vector<Override>& overrides = {}) {
    RunOptions options;
    options.in_process = true;
    return run_experiment(loaded(overrides), options);
}

const ScenarioResult& named(const ExperimentResult& result, const std::string& name) {
    for (const ScenarioResult& scenario : result.scenarios)
        if (scenario.name == name)
            return scenario;
    throw std::logic_error("no scenario " + name);
}

void expect_refused(
    const std::vector<Override>& overrides, const std::string& pointer, const std::string& words) {
    try {
        static_cast<void>(ran(overrides));
        ADD_FAILURE() << "not refused: " << pointer;
    } catch (const ConfigError& error) {
        for (const Problem& problem : error.problems())
            if (problem.pointer == pointer && problem.message.find(words) != std::string::npos)
                return;
        ADD_FAILURE() << error.what();
    }
}

TEST(ManyCore, ShippedExperimentShowsWhatEachPartCosts) {
    const ExperimentResult result = ran();
    EXPECT_EQ(result.workload.type, "many_core");
    const double two_level = *named(result, "two_level").speedup;
    EXPECT_GT(two_level, 2);
    EXPECT_DOUBLE_EQ(*named(result, "socket").speedup, 1);
    EXPECT_LT(
        *named(result, "one thread a core").speedup, *named(result, "two threads a core").speedup);
    EXPECT_LT(*named(result, "nested regions").speedup, two_level);
    EXPECT_LT(*named(result, "recompute").speedup, two_level);
    EXPECT_LT(
        *named(result, "recompute").peak_memory_gib, *named(result, "two_level").peak_memory_gib);
    EXPECT_LT(*named(result, "transfers not hidden").speedup, two_level);
    // Without hiding, the whole input transfer is exposed; with hiding, only the first chunk's.
    const double bare = *named(result, "transfers not hidden").exposed_copies_us;
    EXPECT_NEAR(*named(result, "two_level").exposed_copies_us, bare / 4, 1e-6);
    EXPECT_EQ(*named(result, "socket").exposed_copies_us, 0);
}

TEST(ManyCore, SameInputSameResult) {
    const ExperimentResult first = ran();
    const ExperimentResult second = ran();
    for (std::size_t i = 0; i < first.scenarios.size(); ++i)
        EXPECT_EQ(first.scenarios[i].iteration_us, second.scenarios[i].iteration_us);
}

TEST(ManyCore, RecomputedEncoderCostsAThirdOfItsLayers) {
    ManyCoreParams params = *loaded().experiment.many_core;
    params.batch = 16'000;
    const OffloadedRun kept = run_offloaded(params, true);
    params.recompute = true;
    const OffloadedRun again = run_offloaded(params, true);
    const double forward = to_seconds(time_of(kept, offload::Phase::kForward));
    EXPECT_NEAR(to_seconds(again.step - kept.step), forward / 2, 0.02 * forward);
}

TEST(ManyCore, ShippedProcessorsStreamAsMeasured) {
    const ProcessorParams phi = load_processor(kConfigs / "processors/phi_5110p.json");
    const double one = stream_rate(phi, StreamKernel::kTriad, 60, 1, 64'000'000);
    EXPECT_GT(one, 160e9);
    EXPECT_LT(one, 175e9);
    EXPECT_LT(stream_rate(phi, StreamKernel::kTriad, 60, 4, 64'000'000), one);
    EXPECT_NEAR(arithmetic_rate(phi, 1), 0.5 * arithmetic_rate(phi, 2), 1);
    EXPECT_NEAR(arithmetic_rate(phi, 2), 2021.76e9, 1e7);
}

TEST(ManyCore, BadInputIsToldByPointer) {
    expect_refused(
        {{"/many_core/threads_per_core", 5}},
        "/many_core/threads_per_core",
        "is 5, and a core of Xeon Phi 5110P has 4");
    expect_refused({{"/many_core/cores", 61}}, "/many_core/cores", "Xeon Phi 5110P has 60");
    expect_refused(
        {{"/many_core/coprocessor/simd_lanes", 0}}, "/many_core/coprocessor/simd_lanes", "1");
    expect_refused({{"/many_core/thread", 5}}, "/many_core/thread", "unknown");
    expect_refused({{"/many_core/widths", Json::array({784})}}, "/many_core/widths", "has 1 layer");
    expect_refused({{"/many_core/batch", 900'000}}, "/many_core/batch", "needs");
    expect_refused(
        {{"/system", (kConfigs / "systems/hgx_h100.json").string()}}, "/system", "is of GPUs");
    expect_refused(
        {{"/scenarios/0/max_ctas", 4}}, "/scenarios/0/max_ctas", "is of collectives between GPUs");
}

TEST(ManyCore, ExperimentsOnGpusStillNeedTheirSystem) {
    const Json json = {{"name", "none"}, {"workload", {{"type", "collective"}, {"size", "1 MiB"}}}};
    try {
        static_cast<void>(load_experiment(json, kConfigs / "experiments/none.json", {}));
        ADD_FAILURE() << "not refused";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.problems().at(0).pointer, "/system");
    }
}

}  // namespace
}  // namespace switchfold::many_core_test
