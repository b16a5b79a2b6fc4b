// SPDX-License-Identifier: Apache-2.0
// Products whose pieces' collectives begin when their tiles end.
#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::tile_release_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

constexpr const char* kStores = R"({"kernels": "stores", "algorithm": "in_switch"})";
constexpr const char* kInSwitch = R"({"algorithm": "in_switch"})";
constexpr const char* kPieces = R"(, "tensor_overlap": true, "tensor_exchange": "group")";

/// A block of a small decoder on eight tensor-parallel GPUs.
ScenarioResult
run(const std::string& plan, const std::string& policy, const std::vector<Override>& changes = {}) {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/hgx_h100.json", "causes": false,
          "workload": {{
            "type": "training", "gradient": "bfloat16",
            "network": {{
              "type": "llama", "layers": 1, "hidden": 4096, "heads": 32, "kv_heads": 8,
              "feed_forward": 14336, "sequence": 4096, "vocabulary": 4096
            }},
            "plan": {{"tensor": 8, "sequence": true, "micro_batch": 1{}}}
          }},
          "scenarios": [{{
            "name": "one", "collectives": {{"reduce_scatter": {}, "all_gather": {}}}
          }}]
        }})",
        plan, policy, policy);
    RunOptions options;
    options.in_process = true;
    return run_experiment(load_experiment(Json::parse(text), kFile, changes), options)
        .scenarios.front();
}

std::string error_of(const std::string& plan) {
    try {
        run(plan, kStores);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

const std::vector<Override> kFreeLinks{
    {"/system/topology/link/lane_bandwidth", "9000 GB/s"},
    {"/system/topology/link/buffer_per_lane", "64 MiB"},
    {"/system/topology/switch/reduction/adder_rate", "50000 GB/s"},
    {"/system/topology/switch/reduction/entries", 1000000},
    {"/system/topology/switch/reduction/buffer", "1 GiB"}};

TEST(TileRelease, WithLinksThatTakeNoTimeProductsTakeTheirs) {
    const ScenarioResult whole = run("", kStores, kFreeLinks);
    const ScenarioResult tiles = run(kPieces, kStores, kFreeLinks);
    const double computing = tiles.iteration_us - tiles.exposed_communication_us;
    EXPECT_NEAR(computing / (whole.iteration_us - whole.exposed_communication_us), 1, 0.01);
    // What is left is latency: of the first piece of a gather, and the last of a scatter.
    EXPECT_LT(tiles.exposed_communication_us, 0.1 * computing);
    EXPECT_LE(tiles.iteration_us, whole.iteration_us * 1.01);
}

TEST(TileRelease, HidesSomeOfWhatWholeProductsLeaveExposed) {
    const ScenarioResult whole = run("", kStores);
    const ScenarioResult tiles = run(kPieces, kStores);
    // The links carry more than these small products hide.
    EXPECT_LT(tiles.exposed_communication_us, 0.95 * whole.exposed_communication_us);
    EXPECT_LT(tiles.iteration_us, whole.iteration_us);
}

TEST(TileRelease, IsNeverSlowerThanWholeByMoreThanTheLaunchesOfItsPieces) {
    for (const char* policy : {kStores, kInSwitch})
        for (const std::uint32_t pieces : {1U, 2U, 4U}) {
            const ScenarioResult whole = run("", policy);
            const ScenarioResult some =
                run(fmt::format(R"({}, "tensor_pieces": {})", kPieces, pieces), policy);
            const auto more = static_cast<double>(some.collectives.size()) -
                              static_cast<double>(whole.collectives.size());
            EXPECT_EQ(more > 0, pieces > 1) << pieces;
            // NCCL's kernels take 5.1 us of launch each, hand-overs of loops as much again; a store
            // has a way to the switch and back.
            const double each = policy == kStores ? 3 : 15;
            EXPECT_LT(some.iteration_us, whole.iteration_us * 1.01 + more * each)
                << policy << " " << pieces;
        }
}

TEST(TileRelease, AsManyPiecesAsWavesAndNoMore) {
    const auto of = [](std::uint32_t pieces) {
        return run(fmt::format(R"({}, "tensor_pieces": {})", kPieces, pieces), kStores)
            .collectives.size();
    };
    EXPECT_LT(of(1), of(2));
    EXPECT_EQ(of(4096), of(0));
}

TEST(TileRelease, SettingsThatMeanNothingAreRefused) {
    EXPECT_NE(
        error_of(R"(, "tensor_exchange": "group")").find("/tensor_exchange: says who exchanges"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"(, "tensor_overlap": true, "tensor_pieces": 4)")
            .find("/tensor_pieces: is set, and a ring has a piece a rank"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::tile_release_test
