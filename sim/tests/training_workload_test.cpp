// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training_workload.h"

#include "core/error.h"
#include "core/params_reader.h"
#include "core/params_writer.h"
#include "sim/config/load.h"
#include "sim/kinds/kinds.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/workload.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace switchfold::training_workload_test {
namespace {

/// The step of a strategy on `ranks` H100.
ExecutionGraph step_of(const TrainingWorkloadParams& workload, std::uint32_t ranks) {
    const std::filesystem::path system = SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json";
    PlanProblems problems;
    const auto plan =
        prepare_plan(with_preset(workload, ranks), *load_system(system, {}).gpu, ".", problems);
    EXPECT_TRUE(problems.empty());
    return plan->graph();
}

TrainingWorkloadParams small() {
    TrainingWorkloadParams workload;
    workload.transformer = TransformerParams{2, 1024, 512, 1000, 0};
    workload.batch = 2;
    return workload;
}

/// Bytes of a rank's collectives, by kind.
std::map<CollectiveKind, std::uint64_t> travelling(const ExecutionGraph& graph) {
    std::map<CollectiveKind, std::uint64_t> bytes;
    for (const Operation& operation : graph.ranks.at(0)->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body))
            bytes[c->kind] += c->bytes.count();
    return bytes;
}

std::size_t collectives(const ExecutionGraph& graph, CollectiveKind kind) {
    std::size_t n = 0;
    for (const Operation& operation : graph.ranks.at(0)->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body))
            n += c->kind == kind ? 1 : 0;
    return n;
}

TEST(TrainingWorkload, TheStrategyDecidesWhatTravels) {
    using enum CollectiveKind;
    TrainingWorkloadParams workload = small();
    constexpr double kRounding = 4096;
    const auto all = static_cast<double>(parameters(network_of(workload, ".")));
    const auto moves = [&](const ExecutionGraph& graph, CollectiveKind kind, double bytes) {
        EXPECT_NEAR(static_cast<double>(travelling(graph)[kind]), bytes, kRounding);
    };
    const ExecutionGraph parallel = step_of(workload, 4);
    EXPECT_EQ(parallel.ranks.size(), 4U);
    EXPECT_GT(collectives(parallel, kAllReduce), 2U);
    moves(parallel, kAllReduce, 4 * all);  // gradients of 4 bytes, weights of 2
    EXPECT_EQ(travelling(parallel).size(), 1U);

    workload.strategy = TrainingStrategy::kOptimizerSharded;
    const ExecutionGraph optimizer = step_of(workload, 4);
    moves(optimizer, kReduceScatter, 4 * all);
    moves(optimizer, kAllGather, 2 * all);
    EXPECT_EQ(travelling(optimizer).size(), 2U);
    EXPECT_EQ(collectives(optimizer, kReduceScatter), collectives(parallel, kAllReduce));

    workload.strategy = TrainingStrategy::kFullySharded;
    workload.unit = mebibytes(6);
    workload.gradient = Datatype::kBfloat16;
    const ExecutionGraph sharded = step_of(workload, 4);
    moves(sharded, kReduceScatter, 2 * all);
    EXPECT_EQ(travelling(sharded).size(), 2U);
    EXPECT_GT(collectives(sharded, kReduceScatter), 2U);
    EXPECT_EQ(collectives(sharded, kAllGather) + 1, 2 * collectives(sharded, kReduceScatter));
}

TEST(TrainingWorkload, BucketsOfTheWholeAreOne) {
    TrainingWorkloadParams workload = small();
    workload.bucket = mebibytes(1000);
    workload.first_bucket = mebibytes(1000);
    EXPECT_EQ(collectives(step_of(workload, 4), CollectiveKind::kAllReduce), 1U);
}

TEST(TrainingWorkload, OneRankSharesNothing) {
    TrainingWorkloadParams workload = small();
    for (const TrainingStrategy strategy :
         {TrainingStrategy::kDataParallel, TrainingStrategy::kOptimizerSharded,
          TrainingStrategy::kFullySharded}) {
        workload.strategy = strategy;
        EXPECT_TRUE(travelling(step_of(workload, 1)).empty());
    }
}

/// A strategy is the plan that is written in its place.
TEST(TrainingWorkload, AStrategyIsAPlan) {
    const auto read = [](const std::string& more) {
        return read_params<TrainingWorkloadParams>(
            OrderedJson::parse(R"({"network": "resnet50", "gradient": "bfloat16", )" + more + "}"),
            "f");
    };
    const auto preset =
        with_preset(read(R"("strategy": "fully_sharded", "batch": 3, "unit": "5 MiB")"), 8);
    const auto plan = read(R"("plan": {"data": 8, "micro_batch": 3, "sharding": "parameters",
        "unit": "5 MiB", "gradient_as_bucket_view": false, "norm_keeps": "input"})");
    EXPECT_EQ(write_value(*preset.plan), write_value(*plan.plan));
}

TEST(TrainingWorkload, ATransformerIsAGptWithHeadsOf128) {
    // GPT-2 (Hugging Face): small, medium and XL.
    const auto parameters_of = [](std::uint32_t blocks, std::uint32_t hidden) {
        TrainingWorkloadParams workload;
        workload.transformer = TransformerParams{blocks, hidden, 1024, 50'257, 0};
        return parameters(network_of(workload, "."));
    };
    EXPECT_EQ(parameters_of(12, 768), 124'439'808U);
    EXPECT_EQ(parameters_of(24, 1024), 354'823'168U);
    EXPECT_EQ(parameters_of(48, 1600), 1'557'611'200U);
    const auto heads = [](std::uint32_t hidden) {
        TrainingWorkloadParams workload;
        workload.transformer = TransformerParams{1, hidden, 16, 100, 0};
        for (const Layer& layer : network_of(workload, ".").layers)
            if (layer.type == "attention")
                return layer.heads;
        return 0U;
    };
    EXPECT_EQ(heads(2048), 16U);
    EXPECT_EQ(heads(1600), 10U);
    EXPECT_EQ(heads(16), 1U);
    EXPECT_EQ(heads(1021), 1U) << "a prime";
}

TEST(TrainingWorkload, ATableThatIsNotThereIsAnError) {
    TrainingWorkloadParams workload;
    workload.table = "no_such_table.csv";
    EXPECT_THROW(static_cast<void>(step_of(workload, 4)), IoError);
}

std::string refused(const char* text) {
    try {
        static_cast<void>(read_params<TrainingWorkloadParams>(OrderedJson::parse(text), "f"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(TrainingWorkload, NamesOneNetwork) {
    EXPECT_NE(refused(R"({})").find("names no network"), std::string::npos);
    EXPECT_NE(
        refused(R"({"table": "a", "transformer": {"blocks": 1, "hidden": 64, "sequence": 8}})")
            .find("names two networks"),
        std::string::npos);
    EXPECT_EQ(refused(R"({"transformer": {"blocks": 1, "hidden": 64, "sequence": 8}})"), "");
    EXPECT_NE(
        refused(R"({"transformer": {"blocks": 1, "hiden": 64, "sequence": 8}})").find("hidden"),
        std::string::npos);
}

TEST(TrainingWorkload, AStrategyBesideAPlanIsRefused) {
    for (const char* const key :
         {"\"strategy\": \"data_parallel\"", "\"batch\": 8", "\"unit\": \"4 KiB\""}) {
        const std::string said = refused(
            fmt::format(R"({{"network": "resnet50", "plan": {{"data": 8}}, {}}})", key).c_str());
        EXPECT_NE(said.find("f: /" + std::string(key).substr(1, 4)), std::string::npos) << said;
        EXPECT_NE(said.find("plan"), std::string::npos) << said;
    }
}

/// Whatever asks for a plan has that of a strategy.
TEST(TrainingWorkload, AnExperimentWithAStrategyHasItsPlan) {
    const test_data::TemporaryFile file(
        "strategy.json", R"({"name": "s", "system": ")" SWITCHFOLD_SOURCE_DIR
                         R"(/configs/systems/hgx_h100.json",
        "workload": {"type": "training", "network": "resnet50", "strategy": "fully_sharded"},
        "learning": {"network": {"type": "mlp", "depth": 2, "width": 8}, "steps": 2}})");
    const LoadedExperiment loaded = load_experiment(file.path(), {});
    const PlanParams* const plan = plan_of(loaded.experiment);
    ASSERT_NE(plan, nullptr);
    EXPECT_EQ(plan->data, 8U);
    EXPECT_EQ(plan->micro_batch, 8U);
    EXPECT_EQ(plan->sharding, Sharding::kParameters);
    EXPECT_EQ(plan->unit, mebibytes(24));
    // Learning gets the step; the largest batch is told of it all the same.
    const PreparedWorkload prepared = prepare_workload(loaded);
    EXPECT_NE(prepared.plan, nullptr);
    EXPECT_FALSE(prepared.report.notes.empty());
}

TEST(TrainingWorkload, LaunchesAreTimesOrAFile) {
    const auto refused_with = [](const std::string& launches) {
        return refused(
            (R"({"network": "resnet50", "plan": {"launches": )" + launches + "}}").c_str());
    };
    EXPECT_EQ(refused_with(R"({"kernel": "39 us"})"), "");
    EXPECT_NE(
        refused_with(R"({"kernel": 39})").find("/plan/launches/kernel: is 39; expected a string"),
        std::string::npos);
    EXPECT_NE(refused_with(R"({"kernl": "39 us"})").find("kernel"), std::string::npos);
    EXPECT_EQ(refused_with(R"({"kernel": "39 us", "wait_for_batch": true})"), "");
    EXPECT_NE(
        refused_with(R"({"wait_for_batch": 1})")
            .find("/plan/launches/wait_for_batch: is 1; expected true or false"),
        std::string::npos);
    EXPECT_NE(refused_with(R"("eager.json")").find("which does not exist"), std::string::npos);
}

TEST(TrainingWorkload, NormsAndUpdatesHaveNames) {
    const auto refused_with = [](const std::string& plan) {
        return refused((R"({"network": "resnet50", "plan": )" + plan + "}").c_str());
    };
    EXPECT_EQ(refused_with(R"({"norm": "apex", "update": "unfused"})"), "");
    EXPECT_NE(
        refused_with(R"({"norm": "apx"})")
            .find("/plan/norm: unknown value \"apx\", did you mean \"apex\"?; expected one of: "
                  "one_pass, apex"),
        std::string::npos);
    EXPECT_EQ(refused_with(R"({"attention": "flash_2"})"), "");
    EXPECT_NE(
        refused_with(R"({"attention": "flash_3"})")
            .find("/plan/attention: unknown value \"flash_3\", did you mean \"flash_2\"?"),
        std::string::npos);
    EXPECT_EQ(refused_with(R"({"repeat_keys": true})"), "");
    EXPECT_NE(
        refused_with(R"({"repeat_keys": "yes"})").find("/plan/repeat_keys: is \"yes\"; expected"),
        std::string::npos);
    EXPECT_NE(
        refused_with(R"({"update": 1})").find("/plan/update: is 1; expected"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::training_workload_test
