// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/plan_step.h"
#include "training/plan/step/update_kernels.h"
#include "training/plan/tests/small_gpt.h"

#include <gtest/gtest.h>

#include <string_view>

namespace switchfold::plan_kernels_test {
namespace {

using test_data::a100;
using test_data::small_gpt;

TEST(PlanKernels, BiasesHaveTheirGradientsInTheInputsPass) {
    // Only products are put off (Zero Bubble's WeightGradStore).
    const Network network = small_gpt(4);
    ParallelPlan plan;
    plan.pipeline = 2;
    const TrainingStep step(network, a100(), plan);
    const auto kernels = [&](PassKind kind, std::string_view what) {
        std::size_t found = 0;
        for (const WorkItem& item : step.work().work(kind, 0))
            if (const auto* kernel = std::get_if<KernelItem>(&item))
                found += kernel->name.ends_with(what) ? 1 : 0;
        return found;
    };
    EXPECT_EQ(kernels(PassKind::kInputGradient, "bias gradient"), 8U);  // of two blocks
    EXPECT_EQ(kernels(PassKind::kWeightGradient, "bias gradient"), 0U);
    EXPECT_EQ(kernels(PassKind::kWeightGradient, "weight gradient"), 8U);
    EXPECT_EQ(kernels(PassKind::kBackward, "bias gradient"), 8U);
}

TEST(PlanKernels, ApexNormsTakeLongerAndMoveTheSame) {
    ParallelPlan plan;
    plan.micro_batch = 16;
    const auto seconds = [&](const char* name) {
        const ExecutionGraph graph = plan_step({small_gpt(1), a100(), plan});
        for (const Operation& operation : graph.ranks[0]->operations)
            if (graph.names.at(operation.name) == name)
                return to_seconds(std::get<KernelOperation>(operation.body).isolated);
        return 0.0;
    };
    const double forward = seconds("h.0.ln_1 forward");
    const double backward = seconds("h.0.ln_1 backward");
    plan.norm = NormKernels::kApex;
    EXPECT_GT(seconds("h.0.ln_1 forward"), 1.2 * forward);
    EXPECT_GT(seconds("h.0.ln_1 backward"), 1.8 * backward);
}

TEST(PlanKernels, UnfusedUpdatesMoveWhatMegatronsOperatorsMove) {
    ParallelPlan plan;
    const auto bytes = [&] {
        double all = 0;
        for (const UpdateKernel& update : update_kernels(plan, 1))
            all += update.kernel.read + update.kernel.written;
        return all;
    };
    EXPECT_EQ(bytes(), 4 + 2 + 2 * 12);  // gradient, weight, master and two moments
    plan.update = UpdateKernels::kUnfused;
    // Unscaled in place, their squares, Adam, weights from masters, zeroed.
    EXPECT_EQ(bytes(), 8 + 4 + (4 + 24) + 6 + 4);
    plan.gradient = Datatype::kBfloat16;
    EXPECT_EQ(bytes(), 6 + 8 + 4 + 28 + 6 + 2) << "they are widened first";
    plan.datatype = plan.gradient = Datatype::kFloat32;
    EXPECT_EQ(bytes(), 4 + (4 + 4 + 16) + 4) << "no masters, no scale";
}

}  // namespace
}  // namespace switchfold::plan_kernels_test
