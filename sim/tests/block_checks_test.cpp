// SPDX-License-Identifier: Apache-2.0
#include "sim/config/block_checks.h"

#include "core/error.h"
#include "core/json.h"
#include "models/gpu/sm_array.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::block_checks_test {
namespace {

std::vector<std::pair<std::string, std::string>>
found(const GpuParams& gpu, const CollectiveParams& collectives) {
    ParamChecker checker;
    check_blocks(gpu, collectives, checker);
    return checker.found();
}

TEST(BlockChecks, TheDefaultsFit) {
    EXPECT_TRUE(found({}, {}).empty());
}

TEST(BlockChecks, TellWhatIsTooMuchAndHowMuchWouldDo) {
    GpuParams gpu;
    gpu.name = "test";
    CollectiveParams collectives;
    collectives.registers_per_thread = 255;
    auto problems = found(gpu, collectives);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].first, "/collectives/registers_per_thread");
    EXPECT_EQ(
        problems[0].second,
        "is 255, and an empty SM of test does not hold a block of 640 threads (in-switch) with as "
        "many each; expected at most 96");

    collectives = {};
    collectives.shared_memory = kibibytes(200);
    problems = found(gpu, collectives);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].first, "/collectives/shared_memory");
    EXPECT_EQ(
        problems[0].second,
        "is 200 KiB, more than an SM of test has for one block; expected at most 164 KiB");

    collectives = {};
    collectives.experts.copy_round = nanoseconds(1);
    collectives.experts.threads = 768;
    collectives.experts.registers_per_thread = 128;
    problems = found(gpu, collectives);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].first, "/collectives/experts/registers_per_thread");
    EXPECT_NE(problems[0].second.find("768 threads (experts)"), std::string::npos);
    collectives.experts.copy_round = Time();
    EXPECT_TRUE(found(gpu, collectives).empty()) << "such kernels do not run there";

    collectives = {};
    gpu.sm.threads = 512;
    problems = found(gpu, collectives);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].first, "/collectives/in_switch_threads");
}

RC_GTEST_PROP(BlockChecks, SayNothingExactlyWhereAllBlocksFit, ()) {
    GpuParams gpu;
    gpu.sm.registers = *rc::gen::inRange(8192U, 131'072U);
    gpu.sm.shared_memory = kibibytes(*rc::gen::inRange(16U, 256U));
    CollectiveParams collectives;
    collectives.registers_per_thread = *rc::gen::inRange(16U, 256U);
    collectives.shared_memory = kibibytes(*rc::gen::inRange(0U, 256U));
    collectives.ll.threads = 32 * *rc::gen::inRange(1U, 33U);
    collectives.in_switch_threads = 32 * *rc::gen::inRange(1U, 33U);
    const SmArray sm(gpu.sm, 1);
    bool fit = true;
    for (const std::uint32_t threads :
         {collectives.ll.threads, collectives.ll128.threads, collectives.simple.threads,
          collectives.in_switch_threads})
        fit = fit &&
              sm.limit({threads, collectives.registers_per_thread, collectives.shared_memory}) > 0;
    RC_ASSERT(found(gpu, collectives).empty() == fit);
}

TEST(BlockChecks, AGpuHoldsSoManyBlocksAtTheSameTime) {
    GpuParams gpu;
    gpu.sms = 24;
    const CollectivePolicy ring{Algorithm::kRing, Protocol::kSimple, 0, false};
    const std::uint32_t an_sm = most_blocks(gpu, {}, ring) / 24;
    EXPECT_GE(an_sm, 1U);
    gpu.sms = 30;
    EXPECT_EQ(most_blocks(gpu, {}, ring), 30 * an_sm);
    CollectiveParams large;
    large.shared_memory = gpu.sm.shared_memory - gpu.sm.reserved_shared_memory;
    EXPECT_EQ(most_blocks(gpu, large, ring), 30U);
}

// The resident blocks would wait forever for blocks that never become resident.
TEST(BlockChecks, MoreBlocksThanAGpuHoldsAreRefusedAtTheScenario) {
    const std::filesystem::path file = SWITCHFOLD_SOURCE_DIR "/configs/experiments/blocks.json";
    RunOptions options;
    options.in_process = true;
    try {
        static_cast<void>(run_experiment(
            load_experiment(
                Json::parse(R"({
                    "name": "blocks", "system": "../systems/titan_x_25gbe.json",
                    "workload": {"type": "collective", "size": "1 MiB", "ranks": 4},
                    "scenarios": [{"name": "ring",
                                   "all_reduce": {"algorithm": "ring", "channels": 56}}]})"),
                file, {}),
            options));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what())
                .find(
                    "/scenarios/0/all_reduce/channels: is 56, and a GPU of titan_x_25gbe holds 24 "
                    "such"),
            std::string::npos)
            << error.what();
    }
}

TEST(BlockChecks, ACollectiveTakesNoMoreBlocksThanAGpuHolds) {
    const std::filesystem::path file = SWITCHFOLD_SOURCE_DIR "/configs/experiments/blocks.json";
    RunOptions options;
    options.in_process = true;
    for (const std::string kind : {"all_to_all", "all_reduce", "all_gather"}) {
        const ExperimentResult result = run_experiment(
            load_experiment(
                Json::parse(
                    R"({"name": "few", "system": {"$base": "../systems/dgx_h100_ndr.json",
                                                  "gpu": {"sms": 3}, "topology": {"nodes": 2}},
                        "workload": {"type": "collective", "size": "8 MiB", "collective": ")" +
                    kind + R"("}, "causes": false,
                        "scenarios": [{"name": "it"}]})"),
                file, {}),
            options);
        EXPECT_GT(result.scenarios.front().iteration_us, 0) << kind;
        EXPECT_LE(result.scenarios.front().collectives.front().channels, 6U) << kind;
    }
}

}  // namespace
}  // namespace switchfold::block_checks_test
