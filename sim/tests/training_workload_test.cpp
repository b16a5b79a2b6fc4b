// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training_workload.h"

#include "core/error.h"
#include "core/params_reader.h"

#include <gtest/gtest.h>

namespace switchfold::training_workload_test {
namespace {

GpuParams gpu() {
    GpuParams params;
    params.name = "test";
    params.matrix_rate = FlopRate(100'000'000'000'000);
    return params;
}

TrainingWorkloadParams small() {
    TrainingWorkloadParams workload;
    workload.transformer = TransformerParams{2, 1024, 512, 1000, 0};
    workload.batch = 2;
    return workload;
}

std::size_t collectives(const ExecutionGraph& graph, CollectiveKind kind) {
    std::size_t n = 0;
    for (const Operation& operation : graph.ranks.at(0)->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body))
            n += c->kind == kind ? 1 : 0;
    return n;
}

TEST(TrainingWorkload, TheStrategyDecidesWhatTravels) {
    TrainingWorkloadParams workload = small();
    const ExecutionGraph parallel = training_step(workload, gpu(), 4, ".");
    EXPECT_EQ(parallel.ranks.size(), 4U);
    EXPECT_GT(collectives(parallel, CollectiveKind::kAllReduce), 2U);
    EXPECT_EQ(collectives(parallel, CollectiveKind::kAllGather), 0U);
    workload.bucket = mebibytes(1000);
    workload.first_bucket = mebibytes(1000);
    EXPECT_EQ(collectives(training_step(workload, gpu(), 4, "."), CollectiveKind::kAllReduce), 1U);
    workload.strategy = TrainingStrategy::kFullySharded;
    const ExecutionGraph sharded = training_step(workload, gpu(), 4, ".");
    EXPECT_EQ(collectives(sharded, CollectiveKind::kAllReduce), 0U);
    EXPECT_EQ(
        collectives(sharded, CollectiveKind::kAllGather) + 1,
        2 * collectives(sharded, CollectiveKind::kReduceScatter));
}

TEST(TrainingWorkload, ATableThatIsNotThereIsAnError) {
    TrainingWorkloadParams workload;
    workload.table = "no_such_table.csv";
    EXPECT_THROW(static_cast<void>(training_step(workload, gpu(), 4, ".")), IoError);
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
