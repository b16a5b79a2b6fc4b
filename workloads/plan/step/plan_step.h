// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/kernel_times.h"
#include "workloads/network/network.h"
#include "workloads/plan/schedule/pipeline_schedule.h"
#include "workloads/plan/step/parallel_plan.h"
#include "workloads/plan/step/stage_work.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// What is wrong with a plan for a network: the plan's key ("/tensor") and a sentence.
using PlanProblems = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] PlanProblems problems_of(const ParallelPlan& plan, const Network& network);

/// The schedule of a plan that has no problems; one that is searched, for the stages' own times.
[[nodiscard]] PipelineSchedule
schedule_of(const ParallelPlan& plan, const StageWork* work = nullptr);

/// Mini-batches of a pipeline without flush until it is full, at most; as many until it is empty.
[[nodiscard]] std::uint32_t rounds_to_fill(const ParallelPlan& plan);

/// Stages of about the same time, cut where `balanced` says.
[[nodiscard]] std::vector<std::uint32_t> balanced_partition(
    const Network& network,
    const KernelTimes& times,
    const ParallelPlan& plan,
    std::uint32_t stages);

/// As many blocks a stage, as Megatron-LM cuts: what stands before the first block and behind the
/// last counts as one each where that comes out even, else it goes with its neighbour. Empty if
/// neither comes out even.
[[nodiscard]] std::vector<std::uint32_t>
equal_partition(const Network& network, std::uint32_t stages);

/// A plan's stages and schedule, for the network and the times of its kernels.
struct PlannedStep {
    std::unique_ptr<StageWork> work;
    PipelineSchedule schedule;
};
[[nodiscard]] PlannedStep
planned_step(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

/// One step of training a network by a plan; of a schedule without flush as many mini-batches as
/// the plan says. Ranks are those of RankMap.
[[nodiscard]] ExecutionGraph
plan_step(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

}  // namespace switchfold
