// SPDX-License-Identifier: Apache-2.0
// Steps whose collectives pass as earlier ones did, beside kernels, compared with every packet.
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

namespace switchfold::recalled_beside_kernels_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/step.json";

ScenarioResult run(const std::string& members, const std::string& policy, bool exact) {
    const std::string text = fmt::format(
        R"({{"name": "step", "causes": false, "exact": {}, {},
             "scenarios": [{{"name": "it", {}}}]}})",
        exact, members, policy);
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), {}).scenarios.front();
}

struct Step {
    std::string system = "hgx_h100";
    std::string strategy = "fully_sharded";
    std::string algorithm = "ring";
    int blocks = 8;
    int hidden = 2048;
    int batch = 2;
    int channels = 0;
    int tensor = 1;  ///< more: a plan of groups
    int pipeline = 1;
    [[nodiscard]] std::string members() const {
        if (tensor > 1)
            return fmt::format(
                R"("system": "../systems/{}.json", "memory": "ignore", "workload": {{
                    "type": "training",
                    "network": {{"type": "gpt", "layers": {}, "hidden": {}, "heads": 8,
                                 "sequence": 1024, "vocabulary": 16000}},
                    "plan": {{"tensor": {}, "pipeline": {}, "data": {}, "micro_batch": {},
                              "accumulate": 4}}}})",
                system, blocks, hidden, tensor, pipeline, 8 / tensor / pipeline, batch);
        return fmt::format(
            R"("system": "../systems/{}.json", "workload": {{
                "type": "training", "strategy": "{}", "batch": {}, "gradient": "bfloat16",
                "transformer": {{"blocks": {}, "hidden": {}, "sequence": 1024}}}})",
            system, strategy, batch, blocks, hidden);
    }
    [[nodiscard]] std::string policy() const {
        const std::string choice = fmt::format(
            R"({{"algorithm": "{}"{}}})", algorithm,
            channels > 0 ? fmt::format(R"(, "channels": {})", channels) : "");
        if (algorithm == "tree" || strategy == "data_parallel" || tensor > 1)
            return R"("all_reduce": )" + choice;
        return fmt::format(
            R"("all_reduce": {0}, "collectives": {{"all_gather": {0}, "reduce_scatter": {0}}})",
            choice);
    }
};

TEST(RecalledBesideKernels, AStepOfEqualBlocksTakesItsTimeForAFractionOfItsEvents) {
    // One rank comes a little later, so that none stands for another.
    const std::string apart = R"("ranks": [{"rank": 3, "delay": "1 ns"}], )";
    for (const std::string algorithm : {"ring", "in_switch"}) {
        Step step;
        step.algorithm = algorithm;
        step.blocks = 16;
        const ScenarioResult every = run(apart + step.members(), step.policy(), true);
        const ScenarioResult recalled = run(apart + step.members(), step.policy(), false);
        EXPECT_LT(static_cast<double>(recalled.events), 0.4 * static_cast<double>(every.events))
            << algorithm;
        EXPECT_NEAR(recalled.iteration_us / every.iteration_us, 1, 0.008) << algorithm;
        EXPECT_NEAR(recalled.forward_us / every.forward_us, 1, 0.008) << algorithm;
        EXPECT_NEAR(recalled.backward_us / every.backward_us, 1, 0.008) << algorithm;
        EXPECT_NEAR(recalled.communication_blocks, every.communication_blocks, 0.15) << algorithm;
    }
}

TEST(RecalledBesideKernels, GroupsOfAPlanPassBesideEachOther) {
    struct Plan {
        const char* plan;
        const char* algorithm;
        double most_events;  ///< share of those of every packet
    };
    const char* data = R"("tensor": 4, "data": 2, "micro_batch": 2, "accumulate": 6)";
    const char* stages = R"("tensor": 4, "pipeline": 2, "micro_batch": 2, "accumulate": 6)";
    for (const auto& [plan, algorithm, most_events] :
         {Plan{data, "in_switch", 0.35}, Plan{stages, "in_switch", 0.35},
          Plan{stages, "ring", 0.7}}) {
        const std::string policy = fmt::format(R"("all_reduce": {{"algorithm": "{}"}})", algorithm);
        const std::string members = fmt::format(
            R"("system": "../systems/hgx_h100.json", "memory": "ignore", "workload": {{
                "type": "training", "plan": {{{}}},
                "network": {{"type": "gpt", "layers": 8, "hidden": 2048, "heads": 16,
                             "sequence": 1024, "vocabulary": 16000}}}})",
            plan);
        const ScenarioResult every = run(members, policy, true);
        const ScenarioResult recalled = run(members, policy, false);
        EXPECT_LT(
            static_cast<double>(recalled.events), most_events * static_cast<double>(every.events))
            << plan;
        EXPECT_NEAR(recalled.iteration_us / every.iteration_us, 1, 0.006) << plan;
        EXPECT_NEAR(recalled.backward_us / every.backward_us, 1, 0.006) << plan;
        EXPECT_NEAR(*recalled.backward_slowdown, *every.backward_slowdown, 0.01) << plan;
    }
}

TEST(RecalledBesideKernels, AnyStepTakesItsTime) {
    // A block that comes microseconds later may find its slots taken by the next kernel, so single
    // steps differ by more than all do on average.
    double sum = 0;
    int count = 0;
    constexpr int kDraws = 20;  // a second or two each
    ASSERT_TRUE(rc::check([&] {
        if (count == kDraws)
            return;
        Step step;
        step.system = *rc::gen::element<std::string>("hgx_h100", "dgx_a100", "hgx_b200");
        step.strategy =
            *rc::gen::element<std::string>("data_parallel", "fully_sharded", "optimizer_sharded");
        step.algorithm = *rc::gen::element<std::string>("ring", "in_switch");
        if (step.system == "dgx_a100")
            step.algorithm = *rc::gen::element<std::string>("ring", "tree");
        if (step.algorithm == "tree")
            step.strategy = "data_parallel";
        step.blocks = *rc::gen::inRange(3, 13);
        step.hidden = 256 * *rc::gen::inRange(3, 13);
        step.batch = *rc::gen::inRange(1, 5);
        step.channels = *rc::gen::element(0, 0, 0, 4, 12);
        step.tensor = *rc::gen::element(1, 1, 2, 4);
        step.pipeline = *rc::gen::element(1, 2);
        const ScenarioResult every = run(step.members(), step.policy(), true);
        const ScenarioResult recalled = run(step.members(), step.policy(), false);
        RC_LOG() << step.members() << " " << step.policy() << ": "
                 << fmt::format(
                        "iteration {:.1f} {:.1f}, forward {:.1f} {:.1f}, backward {:.1f} {:.1f}, "
                        "exposed {:.1f} {:.1f}, recalled {:.1f}, events {} {}",
                        every.iteration_us, recalled.iteration_us, every.forward_us,
                        recalled.forward_us, every.backward_us, recalled.backward_us,
                        every.exposed_communication_us, recalled.exposed_communication_us,
                        recalled.jumped_us, every.events, recalled.events)
                 << std::endl;
        const auto near = [](double a, double b, double share) {
            return std::abs(a / b - 1) < share;
        };
        sum += std::abs(recalled.iteration_us / every.iteration_us - 1);
        ++count;
        RC_ASSERT(near(recalled.iteration_us, every.iteration_us, 0.03));
        RC_ASSERT(near(recalled.forward_us, every.forward_us, 0.03));
        RC_ASSERT(near(recalled.backward_us, every.backward_us, 0.05));
    }));
    EXPECT_LT(sum / count, 0.003);
}

}  // namespace
}  // namespace switchfold::recalled_beside_kernels_test
