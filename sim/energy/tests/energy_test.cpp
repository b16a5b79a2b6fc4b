// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/energy.h"

#include "core/error.h"
#include "core/params_reader.h"
#include "sim/energy/energy_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::energy_test {
namespace {

/// A GPU of 500 W, of which 100 idle, and round numbers elsewhere.
PowerParams power() {
    PowerParams all;
    all.gpus["A"] = {500, {100, 80, 120}, {5, 4, 6}};
    all.dense_kernels = {0.75, 0.5, 1};
    all.other_kernels = {0.25, 0.125, 0.5};
    all.communication = {0.5, 0.25, 1};
    all.gpu_link_pj_per_bit = {6, 1, 10};
    all.pcie_pj_per_bit = {10, 5, 30};
    all.network_pj_per_bit = {75, 30, 150};
    return all;
}

/// One GPU, a step of 10 ms.
StepWork step() {
    StepWork work;
    work.scenario = "s";
    work.seconds = 0.01;
    work.gpus.push_back({"A", 0.004, 0.002, 0.1, 1e9, 2e8, 4e8});
    work.gpu_link_bytes = 1e9;
    work.pcie_bytes = 1e8;
    work.network_bytes = 1e7;
    return work;
}

void expect_joules(const Joules& found, double value, double low, double high) {
    EXPECT_NEAR(found.value, value, 1e-9);
    EXPECT_NEAR(found.low, low, 1e-9);
    EXPECT_NEAR(found.high, high, 1e-9);
}

TEST(Energy, IsWhatAHandFinds) {
    const StepEnergy energy = energy_of(step(), power(), "power.json");
    // 100, 80, 120 W for 10 ms.
    expect_joules(energy.part(EnergyPart::kIdle), 1.0, 0.8, 1.2);
    // 400 W between idle and limit: 3/4 of them for 4 ms and 1/4 for 2 ms.
    expect_joules(energy.part(EnergyPart::kKernels), 1.2 + 0.2, 0.8 + 0.1, 1.6 + 0.4);
    // A tenth of the SMs, half of their power, 10 ms.
    expect_joules(energy.part(EnergyPart::kCommunication), 0.2, 0.1, 0.4);
    // 1.3, 1.2, 1.4 GB of 8 bits at 5, 4, 6 pJ.
    expect_joules(energy.part(EnergyPart::kMemory), 0.052, 0.0384, 0.0672);
    expect_joules(energy.part(EnergyPart::kGpuLinks), 0.048, 0.008, 0.08);
    expect_joules(energy.part(EnergyPart::kPcie), 0.008, 0.004, 0.024);
    expect_joules(energy.part(EnergyPart::kNetwork), 0.006, 0.0024, 0.012);
    expect_joules(energy.sum(), 2.714, 1.8528, 3.7832);
    // Without the links: 2.652 J in 10 ms.
    expect_joules(energy.gpu_watts(), 265.2, 183.84, 366.72);
}

TEST(Energy, AGpuNeverDrawsMoreThanItsLimit) {
    StepWork work = step();
    work.gpus[0].dense_seconds = 0.016;  // on several streams
    const StepEnergy energy = energy_of(work, power(), "power.json");
    EXPECT_NEAR(energy.gpu_watts().value, 500, 1e-9);
    // Half of 400 W for 1.6 times the step, and the rest.
    EXPECT_NEAR(energy.gpu_watts().low, 320 + 103.84, 1e-9);
    EXPECT_NEAR(energy.gpu_watts().high, 500, 1e-9);
}

TEST(Energy, AGpuThatDoesNothingIdles) {
    StepWork work;
    work.seconds = 2;
    work.gpus.resize(3, {"A"});
    const StepEnergy energy = energy_of(work, power(), "power.json");
    expect_joules(energy.sum(), 600, 480, 720);
    expect_joules(energy.gpu_watts(), 100, 80, 120);
    // No time, no power.
    work.seconds = 0;
    expect_joules(energy_of(work, power(), "power.json").gpu_watts(), 0, 0, 0);
}

RC_GTEST_PROP(Energy, GrowsWithTheWorkAndKeepsItsInterval, ()) {
    StepWork work = step();
    for (double GpuStepWork::*member :
         {&GpuStepWork::dense_seconds, &GpuStepWork::other_seconds, &GpuStepWork::kernel_bytes})
        work.gpus[0].*member *= *rc::gen::inRange(0, 100) / 25.0;
    work.network_bytes *= *rc::gen::inRange(0, 100);
    const StepEnergy less = energy_of(work, power(), "power.json");
    for (const Joules& part : less.parts)
        RC_ASSERT(part.low >= 0);
    RC_ASSERT(less.sum().low <= less.sum().value);
    RC_ASSERT(less.sum().value <= less.sum().high);
    RC_ASSERT(less.gpu_watts().value <= 500 + 1e-9);
    work.seconds *= 1.5;
    RC_ASSERT(energy_of(work, power(), "power.json").sum().value > less.sum().value);
}

TEST(Energy, AGpuWithoutNumbersIsNotGuessed) {
    StepWork work = step();
    work.gpus.push_back({"AB"});
    try {
        static_cast<void>(energy_of(work, power(), "power.json"));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_STREQ(
            error.what(), "power.json: /gpus: has no power numbers of the GPU \"AB\"; "
                          "expected an entry of that name (docs/results.md#energy)");
    }
}

std::string problems_of(Json json) {
    try {
        static_cast<void>(read_params<PowerParams>(json, "power.json"));
        return {};
    } catch (const ConfigError& error) {
        return error.what();
    }
}

TEST(PowerNumbers, WrongOnesAreRefusedAtTheirPlace) {
    const Json shipped = load_json(SWITCHFOLD_SOURCE_DIR "/configs/power/default.json");
    EXPECT_EQ(problems_of(shipped), "");
    const auto with = [&](const char* pointer, const Json& value) {
        Json changed = shipped;
        changed[Json::json_pointer(pointer)] = value;
        return problems_of(changed);
    };
    EXPECT_NE(
        with("/pcie_pj_per_bit/low", 11).find("/pcie_pj_per_bit: is not in its interval"),
        std::string::npos);
    EXPECT_NE(
        with("/communication/high", 1.5).find("/communication/high: is above 1"),
        std::string::npos);
    EXPECT_NE(
        with("/gpus/NVIDIA Tesla T4/idle_watts/high", 70).find("/idle_watts/high: is not below"),
        std::string::npos);
    EXPECT_NE(
        with("/gpus/NVIDIA Tesla T4/limit", 70).find("/gpus/NVIDIA Tesla T4/limit: "),
        std::string::npos);
}

TEST(PowerNumbers, EveryShippedOneHasItsSource) {
    const Json shipped = load_json(SWITCHFOLD_SOURCE_DIR "/configs/power/default.json");
    for (const auto& [key, value] : shipped.items()) {
        if (key.front() == '$' || key == "gpus")
            continue;
        EXPECT_TRUE(shipped["$source"].contains(key)) << key;
    }
    for (const auto& [name, gpu] : shipped["gpus"].items())
        for (const char* key : {"limit_watts", "idle_watts", "memory_pj_per_bit"})
            EXPECT_TRUE(gpu["$source"].contains(key)) << name << ' ' << key;
}

}  // namespace
}  // namespace switchfold::energy_test
