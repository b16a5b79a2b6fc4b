// SPDX-License-Identifier: Apache-2.0
#include "training/plan/partition/planner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace switchfold::planner_test {
namespace {

/// Tries every partition of the layers and every assignment of workers.
double by_brute_force(const std::vector<PlannerLayer>& layers, const PartitionOptions& options) {
    double best = std::numeric_limits<double>::infinity();
    std::vector<PlannedStage> stages;
    const std::function<void(std::uint32_t, std::uint32_t)> go = [&](std::uint32_t first,
                                                                     std::uint32_t workers) {
        for (std::uint32_t m = 1; m <= workers; ++m) {
            if (!options.replicas.empty() &&
                (stages.size() >= options.replicas.size() || options.replicas[stages.size()] != m))
                continue;
            stages.push_back({first, m});
            if (m == workers) {
                if (const auto seconds = seconds_of(layers, options, stages))
                    best = std::min(best, *seconds);
            } else {
                for (auto next = first + 1; next < layers.size(); ++next)
                    go(next, workers - m);
            }
            stages.pop_back();
        }
    };
    go(0, options.workers);
    return best;
}

RC_GTEST_PROP(PlannerProperty, FindsWhatBruteForceFinds, ()) {
    std::vector<PlannerLayer> layers(*rc::gen::inRange<std::size_t>(1, 9));
    for (PlannerLayer& layer : layers) {
        layer.seconds = *rc::gen::inRange(1, 30) * 1e-3;
        layer.output_bytes = *rc::gen::inRange(0, 100) * 1e6;
        layer.weight_bytes = *rc::gen::inRange(0, 100) * 1e6;
        layer.kept_bytes = *rc::gen::inRange(0, 100) * 1e6;
        layer.kept_before = layer.kept_bytes * *rc::gen::element(0.0, 0.5, 1.0);
    }
    PartitionOptions options;
    options.workers = *rc::gen::inRange(1U, 7U);
    if (*rc::gen::arbitrary<bool>())
        for (std::uint32_t left = options.workers; left > 0; left -= options.replicas.back())
            options.replicas.push_back(*rc::gen::inRange(1U, left + 1));
    options.memory = *rc::gen::element(0.0, 3e8, 8e8);
    options.levels = {{2, 2e10}, {8, *rc::gen::element(1e9, 1e10)}};
    const auto plan = plan_pipeline(layers, options);
    const double best = by_brute_force(layers, options);
    RC_ASSERT(plan.has_value() == (best < std::numeric_limits<double>::infinity()));
    if (plan) {
        RC_ASSERT(plan->seconds == best);
        RC_ASSERT(seconds_of(layers, options, plan->stages) == best);
    }
}

TEST(Planner, ReplicatesWhereWeightsAreFewAndCutsWhereTheyAreMany) {
    // Like VGG: convolutions with large outputs and few weights, then layers dominated by weights.
    const PlannerLayer convolution{40e-3, 50e6, 5e6, 0};
    const PlannerLayer pooled{40e-3, 5e6, 5e6, 0};
    const PlannerLayer dense{5e-3, 1e5, 400e6, 0};
    const std::vector<PlannerLayer> layers{convolution, convolution, pooled, dense};
    const auto plan = plan_pipeline(layers, {4, {{4, 1e9}}, 0, {}});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->stages, (std::vector<PlannedStage>{{0, 3}, {3, 1}}));
    // If every layer has few weights, a single stage replicated on all workers is best.
    const std::vector<PlannerLayer> same(4, convolution);
    EXPECT_EQ(plan_pipeline(same, {4, {{4, 1e9}}, 0, {}})->stages.size(), 1U);
}

// A ReLU keeps its output, which is the input that the convolution behind it keeps: one tensor.
TEST(Planner, AStageHoldsATensorOnce) {
    const PlannerLayer relu{1e-3, 1, 0, 60e6};
    const PlannerLayer convolution{1e-3, 1, 0, 60e6, 60e6};
    const std::vector<PlannerLayer> layers{relu, convolution};
    EXPECT_TRUE(plan_pipeline(layers, {1, {{1, 1e9}}, 100e6, {}}));
    EXPECT_FALSE(plan_pipeline(layers, {1, {{1, 1e9}}, 50e6, {}}));
    // Apart, both hold it.
    EXPECT_TRUE(plan_pipeline(layers, {2, {{2, 1e9}}, 130e6, {1, 1}}));
    EXPECT_FALSE(plan_pipeline({convolution, convolution}, {1, {{1, 1e9}}, 50e6, {}}));
}

TEST(Planner, RefusesWhatFitsNowhere) {
    const std::vector<PlannerLayer> layers(2, PlannerLayer{1e-3, 1, 1e9, 0});
    EXPECT_FALSE(plan_pipeline(layers, {2, {{2, 1e9}}, 1e8, {}}));
}

}  // namespace
}  // namespace switchfold::planner_test
