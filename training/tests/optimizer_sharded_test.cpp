// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/optimizer_sharded.h"

#include "training/strategies/transformer.h"

#include <gtest/gtest.h>

#include <variant>

namespace switchfold::optimizer_sharded_test {
namespace {

DataParallelOptions options() {
    DataParallelOptions o;
    o.name = "test";
    o.ranks = 4;
    o.batch = 1;
    o.flops = 1e14;
    o.bytes = 1e12;
    return o;
}

struct Traffic {
    std::uint64_t scattered = 0;  ///< bytes
    std::uint64_t gathered = 0;
    std::uint64_t scatters = 0;
    std::uint64_t gathers = 0;
    double optimizer_us = 0;
};

Traffic traffic_of(const ExecutionGraph& graph) {
    Traffic traffic;
    for (const Operation& operation : graph.ranks.at(0)->operations) {
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
            const bool scatters = c->kind == CollectiveKind::kReduceScatter;
            EXPECT_EQ(
                c->kind, scatters ? CollectiveKind::kReduceScatter : CollectiveKind::kAllGather);
            EXPECT_EQ(operation.phase, scatters ? Phase::kBackward : Phase::kOptimizer);
            (scatters ? traffic.scattered : traffic.gathered) += c->bytes.count();
            ++(scatters ? traffic.scatters : traffic.gathers);
        } else if (operation.phase == Phase::kOptimizer) {
            traffic.optimizer_us +=
                to_microseconds(std::get<KernelOperation>(operation.body).isolated);
        }
    }
    return traffic;
}

TEST(OptimizerSharded, ScattersEveryGradientAndGathersEveryWeightOnce) {
    const auto layers = transformer_layers({8, 1024, 512, 1000, 0});
    std::uint64_t parameters = 0;
    for (const Layer& layer : layers)
        parameters += layer.parameters;
    const ExecutionGraph graph = optimizer_sharded_step(layers, options());
    check(graph);
    const Traffic traffic = traffic_of(graph);
    EXPECT_EQ(traffic.scattered, 4 * parameters);  // gradients are 4 bytes, weights 2
    EXPECT_EQ(traffic.gathered, 2 * parameters);
    EXPECT_EQ(traffic.scatters, traffic.gathers);
    EXPECT_GT(traffic.scatters, 2U);
}

TEST(OptimizerSharded, EachRankUpdatesItsShare) {
    const auto layers = transformer_layers({8, 1024, 512, 1000, 0});
    const DataParallelOptions o = options();
    const double share = traffic_of(optimizer_sharded_step(layers, o)).optimizer_us;
    const ExecutionGraph whole = data_parallel_step(layers, o);
    double all = 0;
    for (const Operation& operation : whole.ranks.at(0)->operations)
        if (operation.phase == Phase::kOptimizer)
            all += to_microseconds(std::get<KernelOperation>(operation.body).isolated);
    constexpr double kLaunch = 3;  // us, per kernel
    EXPECT_NEAR((all - kLaunch) / (share - kLaunch), 4.0, 0.01);
}

TEST(OptimizerSharded, WithoutWeightsNothingTravels) {
    const ExecutionGraph graph =
        optimizer_sharded_step({{.name = "relu", .type = "relu", .out_elements = 1000}}, options());
    check(graph);
    EXPECT_EQ(traffic_of(graph).scatters + traffic_of(graph).gathers, 0U);
}

}  // namespace
}  // namespace switchfold::optimizer_sharded_test
