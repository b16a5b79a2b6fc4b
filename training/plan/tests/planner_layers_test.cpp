// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/planner_layers.h"

#include "training/network/zoo/zoo.h"
#include "training/plan/step/stage_work.h"
#include "training/plan/step/update_kernels.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

namespace switchfold::planner_layers_test {
namespace {

ParallelPlan single_precision() {
    ParallelPlan plan;
    plan.micro_batch = 32;
    plan.datatype = Datatype::kFloat32;
    plan.optimizer = OptimizerKind::kMomentum;
    return plan;
}

// In a chain of layers no tensor skips any, so the planner's stages hold what the plan's do.
TEST(PlannerLayers, AStageOfAChainHoldsWhatThePlanHolds) {
    const Network vgg = find_network("vgg16").value();
    const KernelTimes times(test_data::ampere());
    const ParallelPlan plan = single_precision();
    const std::vector<PlannerLayer> layers = planner_layers(vgg, times, plan);
    const std::vector<std::uint32_t> first{0, 5, 12, 24, 31};
    const StageWork stages(vgg, times, plan, first);
    for (std::uint32_t s = 0; s < first.size(); ++s) {
        double kept = 0;
        const auto end = s + 1 < first.size() ? first[s + 1] : layers.size();
        for (auto i = first[s]; i < end; ++i)
            kept += layers[i].kept_bytes - (i > first[s] ? layers[i].kept_before : 0);
        EXPECT_DOUBLE_EQ(kept, stages.kept(s).until_input_gradient) << s;
    }
}

TEST(PlannerLayers, AnUpdateCountsWhereEveryMiniBatchEndsWithOne) {
    const Network vgg = find_network("vgg16").value();
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan = single_precision();
    const std::vector<PlannerLayer> once = planner_layers(vgg, times, plan);
    plan.schedule = "1f1b_async";
    const std::vector<PlannerLayer> each = planner_layers(vgg, times, plan);
    plan.update_every = 2;
    const std::vector<PlannerLayer> half = planner_layers(vgg, times, plan);
    constexpr std::size_t kDense = 31;
    const double update = update_seconds(times, plan, once[kDense].weight_bytes / 4);
    EXPECT_GT(update, 0);
    EXPECT_DOUBLE_EQ(each[kDense].seconds - once[kDense].seconds, update);
    EXPECT_DOUBLE_EQ(half[kDense].seconds - once[kDense].seconds, update / 2);
    EXPECT_EQ(each[1].seconds, once[1].seconds);  // a ReLU has no weights
}

}  // namespace
}  // namespace switchfold::planner_layers_test
