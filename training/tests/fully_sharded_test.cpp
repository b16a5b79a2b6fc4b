// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/fully_sharded.h"

#include "training/strategies/transformer.h"

#include <gtest/gtest.h>

#include <numeric>

namespace switchfold::fully_sharded_test {
namespace {

std::uint64_t parameters_of(const std::vector<Layer>& layers) {
    return std::accumulate(
        layers.begin(), layers.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Layer& layer) { return sum + layer.parameters; });
}

std::uint64_t macs_of(const std::vector<Layer>& layers) {
    return std::accumulate(
        layers.begin(), layers.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Layer& layer) { return sum + layer.macs; });
}

TEST(Transformer, HasThePublishedNumberOfParameters) {
    // GPT-2 (Hugging Face): small, medium and XL.
    EXPECT_EQ(parameters_of(transformer_layers({12, 768, 1024, 50'257, 0})), 124'439'808U);
    EXPECT_EQ(parameters_of(transformer_layers({24, 1024, 1024, 50'257, 0})), 354'823'168U);
    EXPECT_EQ(parameters_of(transformer_layers({48, 1600, 1024, 50'257, 0})), 1'557'611'200U);
}

TEST(Transformer, TakesTwoOperationsAParameterAndToken) {
    // Kaplan et al. (arXiv 2001.08361): a forward pass takes 2 N + 2 blocks x context x width
    // operations a token. A causal kernel computes half of the second term.
    const TransformerShape shape{24, 2048, 2048, 50'257, 0};
    const double blocks = 24.0 * (12.0 * 2048 * 2048);
    const double scores = 24.0 * 2048 * 2048;
    const double head = 2048.0 * 50'257;
    const double macs = static_cast<double>(macs_of(transformer_layers(shape))) / 2048;
    EXPECT_NEAR(macs / (blocks + scores + head), 1.0, 1e-6);
}

FullyShardedOptions options() {
    FullyShardedOptions o;
    o.name = "test";
    o.ranks = 4;
    o.batch = 1;
    o.flops = 1e14;
    o.bytes = 1e12;
    o.gradient = Datatype::kBfloat16;
    return o;
}

TEST(FullySharded, GathersEveryWeightTwiceButTheLastUnitAndPartsEveryGradientOnce) {
    const auto layers = transformer_layers({8, 1024, 512, 1000, 0});
    const ExecutionGraph graph = fully_sharded_step(layers, options());
    check(graph);
    std::uint64_t gathered = 0;
    std::uint64_t parted = 0;
    std::uint64_t gathers = 0;
    std::uint64_t parts = 0;
    std::uint64_t last_unit = 0;
    std::uint64_t sequence = 0;
    for (const Operation& operation : graph.ranks.at(0)->operations) {
        const auto* c = std::get_if<CollectiveOperation>(&operation.body);
        if (c == nullptr)
            continue;
        EXPECT_EQ(c->sequence, sequence++);
        if (c->kind == CollectiveKind::kAllGather) {
            gathered += c->bytes.count();
            ++gathers;
        } else {
            ASSERT_EQ(c->kind, CollectiveKind::kReduceScatter);
            if (parts == 0)
                last_unit = c->bytes.count();
            parted += c->bytes.count();
            ++parts;
        }
    }
    EXPECT_EQ(gathers, 2 * parts - 1);
    EXPECT_EQ(gathered, 2 * parted - last_unit);
    EXPECT_GE(parted, 2 * parameters_of(layers));
    EXPECT_LE(parted, 2 * parameters_of(layers) + parts * 64);
    EXPECT_GE(parts, 8U);
}

TEST(FullySharded, AUnitComputesOnlyWithItsWeightsAndTheOptimizerComesLast) {
    const auto layers = transformer_layers({4, 1024, 512, 1000, 0});
    const ExecutionGraph graph = fully_sharded_step(layers, options());
    const auto& operations = graph.ranks.at(0)->operations;
    // Exactly one kernel waits for each all-gather, and no earlier kernel does.
    std::vector<int> waited(operations.size(), 0);
    for (const Operation& operation : operations)
        if (std::holds_alternative<KernelOperation>(operation.body))
            for (const std::uint32_t dependency : operation.dependencies)
                ++waited[dependency];
    for (std::size_t i = 0; i < operations.size(); ++i)
        if (const auto* c = std::get_if<CollectiveOperation>(&operations[i].body);
            c != nullptr && c->kind == CollectiveKind::kAllGather) {
            EXPECT_EQ(waited[i], 1) << i;
        }
    EXPECT_EQ(operations.back().phase, Phase::kOptimizer);
    ASSERT_EQ(operations.back().dependencies.size(), 1U);
    const auto& last = operations[operations.back().dependencies[0]];
    EXPECT_EQ(std::get<CollectiveOperation>(last.body).kind, CollectiveKind::kReduceScatter);
}

TEST(FullySharded, OneSmallLayerIsOneUnit) {
    const std::vector<Layer> layers{{"fc", "linear", 1000, 1000, 10}};
    const ExecutionGraph graph = fully_sharded_step(layers, options());
    check(graph);
    EXPECT_EQ(graph.ranks.at(0)->operations.size(), 6U);
}

}  // namespace
}  // namespace switchfold::fully_sharded_test
