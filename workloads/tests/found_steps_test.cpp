// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/one_rank_times.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::found_steps_test {
namespace {

using test_data::TraceText;

constexpr const char* kGemm = "sm90_gemm";

std::string us(double time) {
    return fmt::format("{:.1f}", time);
}

TraceText& mark(TraceText& trace, int number, double start, double end) {
    return trace.event(
        "user_annotation", fmt::format("ProfilerStep#{}", number), "1", us(start), us(end - start));
}

/// A kernel that is launched at `at` and starts 8 us later.
TraceText& kernel(TraceText& trace, double at, double length, const char* name = kGemm) {
    return trace.launch(name, us(at), "7", us(at + 8), us(length));
}

double iteration(const TraceWorkload& workload) {
    return to_microseconds(workload.graph.provenance.measured_iteration);
}

bool says(const TraceWorkload& workload, const std::string& word) {
    const auto& texts = workload.files[0].warnings;
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
        return text.find(word) != std::string::npos;
    });
}

TEST(FoundSteps, AMarkWithoutWorkIsNoStep) {
    TraceText trace;
    kernel(mark(trace, 0, 1000, 1700), 1000, 600);
    kernel(mark(trace, 1, 1700, 2400), 1700, 600);
    mark(trace, 2, 2400, 9000);
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 2U);
    EXPECT_NEAR(iteration(workload), 654, 1);
    EXPECT_TRUE(says(workload, "step 2 without GPU work left out"));
}

TEST(FoundSteps, AnEmptyMarkBetweenTwoStepsTakesNoTime) {
    TraceText trace;
    kernel(mark(trace, 0, 1000, 1700), 1000, 600);
    mark(trace, 1, 1700, 6700);
    kernel(mark(trace, 2, 6700, 7400), 6700, 600);
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 2U);
    EXPECT_NEAR(iteration(workload), 654, 1);
}

TEST(FoundSteps, WorkOutsideTheMarksIsLeftOut) {
    TraceText trace;
    kernel(trace, 100, 500, "warm_up");
    kernel(mark(trace, 0, 1000, 1700), 1000, 600);
    kernel(trace, 1800, 900, "evaluation");
    kernel(mark(trace, 1, 3000, 3700), 3000, 600);
    kernel(trace, 4000, 100, "afterwards");
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 2U);
    EXPECT_NEAR(iteration(workload), 654, 1);
    EXPECT_EQ(workload.files[0].kernels, 2U);
    EXPECT_TRUE(says(workload, "3 GPU operations outside the step marks left out"));
}

TEST(FoundSteps, TheGpuMayLagBehindTheMarks) {
    // The host marks two steps within 100 us; evaluation runs between them on the GPU.
    TraceText trace;
    mark(trace, 0, 1000, 1020).launch(kGemm, "1001", "7", "1010", "600");
    trace.launch("evaluation", "1040", "7", "1610", "900");
    mark(trace, 1, 1060, 1080).launch(kGemm, "1061", "7", "2510", "600");
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 2U);
    EXPECT_NEAR(iteration(workload), 605, 2);
}

TEST(FoundSteps, AStepThatLostItsKernelsIsLeftOut) {
    TraceText trace;
    mark(trace, 0, 1000, 1700)
        .event("cuda_runtime", "cudaLaunchKernel", "1", "1005", "2", R"("correlation": 90)");
    kernel(mark(trace, 1, 1700, 2400), 1700, 600);
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 1U);
    EXPECT_NEAR(iteration(workload), 608, 1);
    EXPECT_TRUE(says(workload, "1 launch has no kernel in the trace: step 0 left out"));
}

TEST(FoundSteps, AGpuOperationWithoutATimeIsDroppedWithItsStep) {
    for (const char* time : {"0", "3.5", "90000000"}) {
        TraceText trace;
        kernel(mark(trace, 0, 1000, 1700), 1000, 600);
        trace.launch(kGemm, "1100", "7", time, "0");
        kernel(mark(trace, 1, 1700, 2400), 1700, 600);
        const TraceWorkload workload = trace.read();
        EXPECT_EQ(workload.graph.steps, 1U) << time;
        EXPECT_NEAR(iteration(workload), 608, 1) << time;
    }
}

TEST(FoundSteps, AnOptimizerEndsAStepWhereThereAreNoMarks) {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
        const double at = 1000 + 700 * step;
        kernel(trace, at, 600);
        trace.event("user_annotation", "Optimizer.step#SGD.step", "1", us(at + 640), "20");
    }
    kernel(trace, 3200, 50, "validation");
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 3U);
    EXPECT_NEAR(iteration(workload), 669, 2);
    EXPECT_TRUE(says(workload, "1 GPU operation after the last optimizer's step left out"));
}

TEST(FoundSteps, TwoOptimizersInARowEndOneStep) {
    TraceText trace;
    for (int step = 0; step < 2; ++step) {
        const double at = 1000 + 700 * step;
        kernel(trace, at, 600);
        trace.event("user_annotation", "Optimizer.step#SGD.step", "1", us(at + 640), "10");
        trace.event("user_annotation", "Optimizer.step#Adam.step", "1", us(at + 655), "10");
    }
    EXPECT_EQ(trace.read().graph.steps, 2U);
}

/// Kernels one after another from `at` on, and the optimizer that ends them. \returns when it
/// ended.
double ended(
    TraceText& trace, double at, const std::vector<const char*>& names, const char* own,
    const char* optimizer = "Optimizer.step#Adam.step") {
    for (const char* name : names) {
        kernel(trace, at, 80, name);
        at += 100;
    }
    kernel(trace, at + 1, 80, own);
    trace.event("user_annotation", optimizer, "1", us(at), "10");
    return at + 100;
}

TEST(FoundSteps, WhatOthersLackBeforeAnUnmarkedStepIsLeftOut) {
    const std::vector<const char*> step{"forward", "loss", "gradients"};
    const std::vector<const char*> first{"warm_up", "warm_up", "forward", "loss", "gradients"};
    const std::vector<const char*> evaluated{"forward", "loss", "forward",  "loss",
                                             "forward", "loss", "gradients"};
    const std::vector<const char*> skipped{"forward", "loss", "gradients",
                                           "forward", "loss", "gradients"};
    for (const auto& other : {first, evaluated, skipped}) {
        for (const bool at_first : {true, false}) {
            TraceText trace;
            double at = ended(trace, 1000, at_first ? other : step, "adam_kernel");
            for (int i = 1; i < 4; ++i)
                at = ended(trace, at, i == 2 && !at_first ? other : step, "adam_kernel");
            const TraceWorkload workload = trace.read();
            EXPECT_EQ(workload.graph.steps, 4U);
            EXPECT_NEAR(iteration(workload), 400, 25) << other.size() << at_first;
            EXPECT_TRUE(says(
                workload, fmt::format(
                              "{} GPU operations before the own work of step {} left out",
                              other.size() - 3, at_first ? 0 : 2)));
        }
    }
}

TEST(FoundSteps, StepsThatDifferAreToldWhereNothingRepeats) {
    TraceText trace;
    double at = ended(trace, 1000, {"a", "b", "c"}, "adam_kernel");
    at = ended(trace, at, {"d", "e", "f", "g", "h", "i", "j"}, "adam_kernel");
    ended(trace, at, {"k", "l", "m"}, "adam_kernel");
    EXPECT_TRUE(says(trace.read(), "the steps that optimizers end hold 4 to 8 GPU operations"));
}

TEST(FoundSteps, OptimizersThatTakeTurnsEndOneStepTogether) {
    TraceText trace;
    double at = 1000;
    for (int i = 0; i < 3; ++i) {
        at = ended(trace, at, {"critic", "critic"}, "adam_of_critic");
        at = ended(trace, at, {"maker", "critic", "maker", "maker"}, "adam_of_maker");
    }
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 3U);
    EXPECT_NEAR(iteration(workload), 800, 25);
    EXPECT_TRUE(says(workload, "2 optimizers' steps that take turns are one step"));
    TraceText named;  // the same work, by optimizers of other names
    at = 1000;
    for (int i = 0; i < 6; ++i)
        at = i % 2 == 0 ? ended(named, at, {"forward", "loss", "gradients"}, "adam_kernel")
                        : ended(
                              named, at, {"forward", "loss", "loss", "gradients"}, "adam_kernel",
                              "Optimizer.step#SGD.step");
    EXPECT_EQ(named.read().graph.steps, 3U);
    TraceText logs;  // every other step also logs: one optimizer, and much the same work
    at = 1000;
    for (int i = 0; i < 6; ++i)
        at = i % 2 == 0 ? ended(logs, at, {"forward", "loss", "gradients"}, "adam_kernel")
                        : ended(logs, at, {"forward", "loss", "log", "gradients"}, "adam_kernel");
    EXPECT_EQ(logs.read().graph.steps, 6U);
}

TEST(FoundSteps, AMarkWithoutTrainingAmongThoseThatTrainIsNoStep) {
    TraceText trace;
    double at = 1000;
    for (int step = 0; step < 4; ++step) {
        const double begin = at;
        kernel(trace, at, 100);
        kernel(trace, at + 120, 100);
        if (step != 1 && step != 3) {
            trace.event("cpu_op", "MmBackward0", "1", us(at + 239), "20");
            kernel(trace, at + 240, 200);
        }
        at += 500;
        mark(trace, step, begin, at);
    }
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 2U);
    EXPECT_NEAR(iteration(workload), 465, 25);
    EXPECT_TRUE(says(workload, "steps 1, 3 without a backward pass or an optimizer left out"));
}

/// A kernel without the call that launched it.
TraceText& alone(TraceText& trace, double at, double length, const char* name = kGemm) {
    return trace.event(
        "kernel", name, "7", us(at), us(length),
        R"("stream": 7, "grid": [8, 1, 1], "block": [128, 1, 1])");
}

TEST(FoundSteps, WithoutLaunchesTheTimesOfKernelsTellTheirSteps) {
    for (const char* category : {"user_annotation", "gpu_user_annotation"}) {
        TraceText trace;
        for (int step = 0; step < 3; ++step) {
            const double at = 1000 + 300 * step;
            trace.event(category, fmt::format("ProfilerStep#{}", step), "1", us(at), "290");
            alone(alone(trace, at + 8, 100), at + 110, 150);
        }
        const TraceWorkload workload = trace.read();
        EXPECT_EQ(workload.graph.steps, 3U) << category;
        EXPECT_NEAR(iteration(workload), 285, 5) << category;
        EXPECT_FALSE(says(workload, "left out")) << category;
    }
}

TEST(OneRankTimes, AreWhatNothingAndWhatSeveralRanFor) {
    TraceText trace;
    for (int step = 0; step < 2; ++step) {
        const double at = 1000 + 300 * step;
        mark(trace, step, at - 5, at + 290);
        trace.launch(kGemm, us(at), "7", us(at + 10), "100");
        trace.launch(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", us(at + 2), "20", us(at + 70), "60");
    }
    const auto times = one_rank_times(trace.read());
    ASSERT_TRUE(times.has_value());
    EXPECT_EQ(times->overlapped, microseconds(40));
    EXPECT_EQ(times->idle, microseconds(90)) << "180 us between the steps";
    EXPECT_EQ(times->held, Time());
}

TEST(FoundSteps, ARepeatedSequenceOfKernelsIsAStep) {
    TraceText trace;
    double at = 1000;
    kernel(trace, at, 10, "start_up");
    for (int step = 0; step < 3; ++step)
        for (int k = 0; k < 20; ++k)
            kernel(trace, at += 30, 20, k == 19 ? "multi_tensor_apply_adam" : "layer");
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 3U);
    EXPECT_NEAR(iteration(workload), 600, 5);
}

TEST(FoundSteps, LayersThatRepeatAreNoSteps) {
    TraceText trace;
    double at = 1000;
    for (int layer = 0; layer < 6; ++layer)
        for (int k = 0; k < 20; ++k)
            kernel(trace, at += 30, 20, fmt::format("kernel_{}", k).c_str());
    EXPECT_EQ(trace.read().graph.steps, 1U);
}

TEST(FoundSteps, WithoutAnythingToGoByEverythingIsOneStep) {
    TraceText trace;
    for (int k = 0; k < 6; ++k)
        kernel(trace, 1000 + 100 * k, 50);
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 1U) << "six alike kernels are no six steps";
    EXPECT_TRUE(says(workload, "no step marks: everything is one step"));
}

TEST(FoundSteps, TheForwardPassIsKnownByWhatIsDifferentiated) {
    TraceText trace;
    for (int step = 0; step < 2; ++step) {
        const double at = 1000 + 500 * step;
        trace.event("cpu_op", "aten::mm", "1", us(at), "20", R"("Sequence number": 5)");
        kernel(trace, at + 2, 100);
        trace.event("cpu_op", "MmBackward0", "2", us(at + 200), "20", R"("Sequence number": 5)");
        trace.launch(kGemm, us(at + 202), "7", us(at + 210), "100", "", "2");
    }
    const TraceWorkload workload = trace.read();
    EXPECT_EQ(workload.graph.steps, 1U);
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (std::holds_alternative<KernelOperation>(operation.body)) {
            EXPECT_NE(operation.phase, Phase::kOther);
        }
}

}  // namespace
}  // namespace switchfold::found_steps_test
