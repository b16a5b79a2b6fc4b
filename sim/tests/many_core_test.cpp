// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/many_core/offloaded_run.h"
#include "sim/many_core/rates.h"
#include "sim/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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
    const double apart = *named(result, "a copy a core").speedup;
    EXPECT_LT(*named(result, "nested regions").speedup, apart);
    EXPECT_LT(apart, two_level);
    EXPECT_LT(*named(result, "a copy a core, in pairs").speedup, apart);
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

const DeviceParams& phi(const LoadedExperiment& loaded) {
    return *find_device(loaded.experiment.system->devices, "phi");
}

TEST(ManyCore, RecomputedEncoderCostsAThirdOfItsLayers) {
    const LoadedExperiment experiment = loaded();
    ManyCoreParams params = *workload_of<ManyCoreParams>(experiment.experiment);
    params.batch = 16'000;
    params.team_cores = 1;
    const OffloadedRun kept = run_offloaded(params, phi(experiment), true);
    params.recompute = true;
    const OffloadedRun again = run_offloaded(params, phi(experiment), true);
    const double forward = to_seconds(time_of(kept, offload::Phase::kForward));
    EXPECT_NEAR(to_seconds(again.step - kept.step), forward / 2, 0.02 * forward);
}

TEST(ManyCore, TeamsAreThoseWithTheShortestStep) {
    const LoadedExperiment experiment = loaded();
    for (const std::uint32_t batch : {500U, 2'000U, 16'000U}) {
        ManyCoreParams params = *workload_of<ManyCoreParams>(experiment.experiment);
        params.batch = batch;
        const OffloadedRun chosen = run_offloaded(params, phi(experiment), true);
        Time least = microseconds(1'000'000'000);
        for (std::uint32_t cores = 1; cores <= 59; ++cores) {
            params.team_cores = cores;
            least = std::min(least, run_offloaded(params, phi(experiment), true).step);
        }
        EXPECT_EQ(chosen.step, least) << batch;
    }
}

TEST(ManyCore, ACoreStaysWithTheOperatingSystemOfACoprocessor) {
    const LoadedExperiment experiment = loaded();
    ManyCoreParams params = *workload_of<ManyCoreParams>(experiment.experiment);
    params.team_cores = 1;
    const OffloadedRun offloaded = run_offloaded(params, phi(experiment), true);
    EXPECT_EQ(offloaded.layout.cores, 59U);
    params.cores = 60;
    const OffloadedRun all = run_offloaded(params, phi(experiment), true);
    EXPECT_EQ(all.layout.cores, 60U);
    EXPECT_LT(all.step, offloaded.step);
    params.cores.reset();
    const auto& devices = experiment.experiment.system->devices;
    EXPECT_EQ(run_offloaded(params, *find_device(devices, "host"), true).layout.cores, 8U);
    // Without a link, programs run on the processor itself.
    DeviceParams native = phi(experiment);
    native.link.reset();
    EXPECT_EQ(run_offloaded(params, native, true).layout.cores, 60U);
}

TEST(ManyCore, TeamsFitTheMemoryIfAnyDo) {
    const LoadedExperiment experiment = loaded();
    ManyCoreParams params = *workload_of<ManyCoreParams>(experiment.experiment);
    params.batch = 16'000;
    DeviceParams small = phi(experiment);
    const OffloadedRun free = run_offloaded(params, small, true);
    ASSERT_GT(free.layout.teams(), 4U);
    const auto shrink = [&](double bytes) {
        small.processor->memory.capacity = Bytes(static_cast<std::uint64_t>(bytes));
    };
    const double of_team = static_cast<double>(free.program.team_bytes);
    shrink(free.memory_bytes - of_team * (free.layout.teams() - 4));
    const OffloadedRun fewer = run_offloaded(params, small, true);
    EXPECT_EQ(why_too_large(small, fewer), "");
    EXPECT_LE(fewer.layout.teams(), 4U);
    EXPECT_GT(fewer.step, free.step);
    shrink(free.memory_bytes / 1000);
    const OffloadedRun none = run_offloaded(params, small, true);
    EXPECT_EQ(none.layout.teams(), 1U);
    EXPECT_NE(why_too_large(small, none).find("of 1 team"), std::string::npos);
}

TEST(ManyCore, FewerSamplesWantFewerCopies) {
    const LoadedExperiment experiment = loaded();
    std::uint32_t before = 0;
    for (const std::uint32_t batch : {16'000U, 4'000U, 1'000U, 250U}) {
        ManyCoreParams params = *workload_of<ManyCoreParams>(experiment.experiment);
        params.batch = batch;
        const std::uint32_t cores =
            run_offloaded(params, phi(experiment), true).layout.cores_of_team;
        EXPECT_GE(cores, before) << batch;
        before = cores;
    }
    EXPECT_GT(before, 1U);
}

TEST(ManyCore, TeamsShareTheMemoryOfTheirCopy) {
    const LoadedExperiment experiment = loaded();
    const auto memory = [&](std::uint32_t cores) {
        ManyCoreParams params = *workload_of<ManyCoreParams>(experiment.experiment);
        params.team_cores = cores;
        return run_offloaded(params, phi(experiment), true).memory_bytes;
    };
    EXPECT_LT(memory(10), memory(2));
    EXPECT_LT(memory(2), memory(1));
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
        {{"/workload/threads_per_core", 5}}, "/workload/threads_per_core",
        "is 5, and a core of Xeon Phi 5110P has 4");
    expect_refused({{"/workload/cores", 61}}, "/workload/cores", "Xeon Phi 5110P has 60");
    expect_refused(
        {{"/workload/team_cores", 60}}, "/workload/team_cores", "59 cores of Xeon Phi 5110P");
    expect_refused(
        {{"/system/devices/1/processor/system_cores", 60}},
        "/system/devices/1/processor/system_cores", "is 60, and cores is 60; expected fewer");
    expect_refused(
        {{"/workload/team_cores", 9}, {"/workload/cores", 8}}, "/workload/team_cores", "8 cores");
    expect_refused(
        {{"/workload/nested_threads", 4}, {"/workload/team_cores", 2}}, "/workload/team_cores",
        "beside nested_threads");
    expect_refused(
        {{"/workload/gradients", "atomics"}, {"/workload/copies_at_once", 2}},
        "/workload/copies_at_once", "copies of the gradients");
    expect_refused(
        {{"/workload/strategy", "library"}, {"/workload/team_cores", 2}}, "/workload/team_cores",
        "for own loops");
    expect_refused({{"/workload/copies_at_once", 1}}, "/workload/copies_at_once", "2");
    expect_refused(
        {{"/system/devices/1/processor/simd_lanes", 0}}, "/system/devices/1/processor/simd_lanes",
        "1");
    expect_refused(
        {{"/system/devices/1/processor/cache/line", 6}}, "/system/devices/1/processor/cache/line",
        "is 6; expected a multiple of 4");
    expect_refused({{"/workload/thread", 5}}, "/workload/thread", "unknown");
    expect_refused({{"/workload/widths", Json::array({784})}}, "/workload/widths", "has 1 layer");
    expect_refused({{"/workload/batch", 900'000}}, "/workload/batch", "needs");
    expect_refused(
        {{"/workload/widths", Json::array({1'048'576, 1'048'576})}, {"/workload/batch", 1'048'576}},
        "/workload/batch", "longer than a million seconds");
    expect_refused(
        {{"/scenarios/0/max_ctas", 4}}, "/scenarios/0/max_ctas", "is for collectives between GPUs");
    expect_refused({{"/functional", true}}, "/functional", "is for GPUs");
}

TEST(ManyCore, DevicesAreSelectedByName) {
    expect_refused(
        {{"/workload/on", "hots"}}, "/workload/on",
        "not a device of xeon_phi_5110p, did you mean \"host\"?; expected one of: host, phi");
    expect_refused(
        {{"/system/devices/1/name", "host"}}, "/system/devices/1/name", "is given twice");
    const LoadedExperiment experiment = loaded({{"/system", "../systems/xeon_phi_7120p.json"}});
    const auto& devices = experiment.experiment.system->devices;
    EXPECT_EQ(find_device(devices, "")->processor->name, "Xeon Phi 7120P");
    EXPECT_EQ(find_device(devices, "host")->processor->name, "Xeon E5-2670");
    EXPECT_EQ(find_device({devices.front()}, "")->name, "host");
    EXPECT_EQ(find_device(devices, "gpu"), nullptr);
}

TEST(ManyCore, ASecondCoprocessorIsRunByName) {
    Json third = {{"name", "larger"}, {"processor", "../processors/phi_7120p.json"}};
    third["link"] = {{"bandwidth", "6.7 GB/s"}};
    const Json devices = Json::array(
        {{{"name", "host"}, {"processor", "../processors/xeon_e5_2670.json"}},
         {{"name", "phi"}, {"processor", "../processors/phi_5110p.json"}, {"link", third["link"]}},
         third});
    const Json system = {{"name", "three"}, {"devices", devices}};
    const auto pace = [&](const char* on) {
        return *named(ran({{"/system", system}, {"/workload/on", on}}), "two_level").samples_per_s;
    };
    EXPECT_GT(pace("larger"), pace("phi"));
    EXPECT_EQ(pace(""), pace("phi"));
}

TEST(ManyCore, AWorkloadNeedsASystemOfItsKind) {
    expect_refused(
        {{"/system", "../systems/hgx_h100.json"}}, "/workload/type", "hgx_h100 has GPUs");
    expect_refused(
        {{"/workload", {{"type", "collective"}, {"size", "1 MiB"}}}}, "/workload/type",
        "is collective, which runs on GPUs, and xeon_phi_5110p has none");
}

TEST(ManyCore, DevicesStandBesideNoGpu) {
    const Json both = {
        {"name", "both"}, {"devices", Json::array()}, {"gpu", "../systems/gpus/h100.json"}};
    expect_refused({{"/system", both}}, "/system/gpu", "is given beside devices");
    const Json over = {
        {"$base", "../systems/hgx_h100.json"},
        {"devices",
         Json::array({{{"name", "host"}, {"processor", "../processors/xeon_e5_2670.json"}}})}};
    expect_refused({{"/system", over}}, "/system/devices", "over a system of GPUs");
    expect_refused(
        {{"/system", {{"name", "none"}, {"devices", Json::array()}}}}, "/system/devices",
        "is empty");
    expect_refused(
        {{"/system", {{"name", "none"}}}}, "/system/gpu", "expected it here, or devices");
}

TEST(ManyCore, SystemsOfDevicesAreNoneOfGpus) {
    try {
        static_cast<void>(load_system(kConfigs / "systems/xeon_phi_5110p.json", {}));
        ADD_FAILURE() << "not refused";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.problems().at(0).pointer, "/devices");
    }
}

TEST(ManyCore, WrittenSystemsReadBack) {
    for (const char* name : {"xeon_phi_5110p", "hgx_h100"}) {
        const auto file = kConfigs / "systems" / (std::string(name) + ".json");
        const OrderedJson written = system_json(load_any_system(file, {}));
        EXPECT_EQ(written.contains("gpu"), !written.contains("devices"));
        Json workload = {{"type", "collective"}, {"size", "1 MiB"}};
        if (written.contains("devices"))
            workload = {{"type", "many_core"}, {"widths", {8, 4}}, {"batch", 1}};
        const Json experiment = {
            {"name", "again"}, {"system", Json::parse(written.dump())}, {"workload", workload}};
        EXPECT_EQ(system_json(*load_experiment(experiment, file, {}).experiment.system), written);
    }
    const LoadedExperiment first = loaded();
    const LoadedExperiment again = load_experiment(
        Json::parse(first.effective_config), kConfigs / "experiments/again.json", {});
    EXPECT_EQ(again.effective_config, first.effective_config);
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
