// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/plan_step.h"
#include "training/plan/tests/small_gpt.h"
#include "workloads/graph/schedule.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::plan_launches_test {
namespace {

using test_data::a100;
using test_data::small_gpt;

/// Schedule of a rank without contention.
Schedule schedule_of(const ExecutionGraph& graph) {
    return evaluate(*graph.ranks[0], [](std::uint32_t, const Operation& operation) {
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            return kernel->isolated;
        if (const auto* call = std::get_if<HostDelayOperation>(&operation.body))
            return call->duration;
        return Time();
    });
}

TEST(PlanLaunches, NothingBeginsBeforeItsCall) {
    ParallelPlan plan;
    plan.accumulate = 2;
    const Network network = small_gpt();
    const ExecutionGraph alone = plan_step({network, a100(), plan});
    const auto kernels = static_cast<std::uint32_t>(alone.ranks[0]->operations.size());
    // A launch takes far longer than any kernel, so each kernel waits for its launch.
    plan.launch_times.kernel = microseconds(10'000);
    const ExecutionGraph called = plan_step({network, a100(), plan});
    EXPECT_EQ(called.ranks[0]->operations.size(), 2 * kernels);
    const Schedule slow = schedule_of(called);
    EXPECT_GT(slow.makespan, microseconds(10'000) * kernels);
    EXPECT_LT(slow.makespan, microseconds(10'000) * (kernels + 1));
    // A launch takes far less than any kernel, so the host is ahead and only the first kernel
    // waits.
    plan.launch_times.kernel = nanoseconds(10);
    const Time ahead = schedule_of(plan_step({network, a100(), plan})).makespan;
    EXPECT_EQ(ahead, schedule_of(alone).makespan + nanoseconds(10));
    // If the host waits after each pass, it is not ahead at the next one. Launches then delay two
    // forward and two backward passes and the update.
    plan.launch_times.wait_after_pass = true;
    const Time waits = schedule_of(plan_step({network, a100(), plan})).makespan;
    EXPECT_EQ(waits, schedule_of(alone).makespan + nanoseconds(10) * 5);
}

TEST(PlanLaunches, HostsAlsoLaunchWhatIsNoKernelOfALayer) {
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.schedule = "1f1b";
    plan.accumulate = 2;
    plan.tensor = 2;
    plan.launch_times.kernel = microseconds(10'000);
    const Time before = schedule_of(plan_step({network, a100(), plan})).makespan;
    const auto longer = [&](std::uint32_t LaunchTimes::*calls) {
        ParallelPlan more = plan;
        more.launch_times.*calls = 7;
        return schedule_of(plan_step({network, a100(), more})).makespan - before;
    };
    // Twice a step: each micro-batch has a forward pass, an embedding and a loss.
    EXPECT_EQ(longer(&LaunchTimes::batch), microseconds(10'000) * 14);
    EXPECT_EQ(longer(&LaunchTimes::vocabulary), microseconds(10'000) * 14);
    EXPECT_EQ(longer(&LaunchTimes::loss), microseconds(10'000) * 14);
    plan.tensor = 1;  // all words on each rank
    const ExecutionGraph whole = plan_step({network, a100(), plan});
    plan.launch_times.vocabulary = 7;
    EXPECT_EQ(
        schedule_of(plan_step({network, a100(), plan})).makespan, schedule_of(whole).makespan);
}

TEST(PlanLaunches, HostsMayWaitAroundRecomputedLayers) {
    const Network network = small_gpt(8);
    ParallelPlan plan;
    plan.recompute = Recompute::kFull;
    const Time alone = schedule_of(plan_step({network, a100(), plan})).makespan;
    const auto longer = [&] {
        return schedule_of(plan_step({network, a100(), plan})).makespan - alone;
    };
    // Far shorter than any kernel: a host that is ahead delays the first kernel alone.
    plan.launch_times.kernel = nanoseconds(10);
    EXPECT_EQ(longer(), nanoseconds(10));
    // The embeddings, each block forward, the head behind them, each block backward and what
    // follows it begin with a GPU that waits for its first launch.
    plan.launch_times.wait_around_recomputed = true;
    constexpr std::uint64_t kBlocks = 8;
    EXPECT_EQ(longer(), nanoseconds(10) * (1 + kBlocks + 1 + kBlocks + 1));
    // Without recomputation there is nothing to wait around.
    plan.recompute = Recompute::kNone;
    const Time kept = schedule_of(plan_step({network, a100(), plan})).makespan;
    plan.launch_times.wait_around_recomputed = false;
    EXPECT_EQ(kept, schedule_of(plan_step({network, a100(), plan})).makespan);
}

TEST(PlanLaunches, HostsMayWaitForTheBatchOfEachForwardPass) {
    const Network network = small_gpt(8);
    ParallelPlan plan;
    plan.accumulate = 3;
    const Time alone = schedule_of(plan_step({network, a100(), plan})).makespan;
    // Far shorter than any kernel: a host that is ahead delays the first kernel alone.
    plan.launch_times.kernel = nanoseconds(10);
    plan.launch_times.batch = 4;
    const auto longer = [&] {
        return schedule_of(plan_step({network, a100(), plan})).makespan - alone;
    };
    EXPECT_EQ(longer(), nanoseconds(10) * 5);
    // Each forward pass begins with a GPU that waits for the batch's launches and its own first.
    plan.launch_times.wait_for_batch = true;
    EXPECT_EQ(longer(), nanoseconds(10) * 5 * 3);
}

TEST(PlanLaunches, HostsWaitForTheSizesOfRepeatedKeys) {
    constexpr std::uint64_t kLayers = 8;
    const Network network = small_gpt(kLayers);
    ParallelPlan plan;
    plan.repeat_keys = true;
    const Time alone = schedule_of(plan_step({network, a100(), plan})).makespan;
    // Far shorter than any kernel: a host that is ahead would delay the first kernel alone.
    plan.launch_times.kernel = nanoseconds(10);
    // Keys and values of each layer wait for one launch's worth of operators and their own launch.
    EXPECT_EQ(
        schedule_of(plan_step({network, a100(), plan})).makespan,
        alone + nanoseconds(10) * (1 + kLayers * 2 * 2));
}

}  // namespace
}  // namespace switchfold::plan_launches_test
