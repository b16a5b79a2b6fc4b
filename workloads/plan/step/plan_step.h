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

/// Mini-batches until every stage's replicas have had equally many.
[[nodiscard]] std::uint32_t rounds_of_replicas(const ParallelPlan& plan);

/// Stages of about the same time, cut where `balanced` says.
[[nodiscard]] std::vector<std::uint32_t> balanced_partition(
    const Network& network,
    const KernelTimes& times,
    const ParallelPlan& plan,
    std::uint32_t stages);
/// The same where stages run on GPUs that differ: by stage the times of those that it is on, the
/// slowest of which counts.
[[nodiscard]] std::vector<std::uint32_t> balanced_partition(
    const Network& network,
    const std::vector<std::vector<const KernelTimes*>>& times,
    const ParallelPlan& plan);

/// As many blocks a stage, as Megatron-LM cuts: what stands before the first block and behind the
/// last counts as one each where that comes out even, else it goes with its neighbour. Empty if
/// neither comes out even.
[[nodiscard]] std::vector<std::uint32_t>
equal_partition(const Network& network, std::uint32_t stages);

/// A plan without problems, cut into stages and put in order, for a network and the times of its
/// kernels. Its parts refer to each other: it stays where it is.
class PlannedStep {
public:
    PlannedStep(Network network, KernelTimes times, ParallelPlan plan);
    PlannedStep(const PlannedStep&) = delete;
    PlannedStep& operator=(const PlannedStep&) = delete;

    [[nodiscard]] const Network& network() const { return network_; }
    [[nodiscard]] const KernelTimes& times() const { return times_; }
    [[nodiscard]] const ParallelPlan& plan() const { return plan_; }
    [[nodiscard]] const StageWork& work() const { return *work_; }
    /// The same of a micro-batch: the last one of a step may have fewer samples.
    [[nodiscard]] const StageWork& work(std::uint32_t micro_batch) const {
        return last_work_ && micro_batch + 1 == schedule_.micro_batches ? *last_work_ : *work_;
    }
    /// Samples of a replica in a step.
    [[nodiscard]] std::uint32_t samples() const;
    [[nodiscard]] const PipelineSchedule& schedule() const { return schedule_; }

private:
    Network network_;
    KernelTimes times_;
    ParallelPlan plan_;
    PipelineSchedule schedule_;
    std::unique_ptr<StageWork> work_;
    ParallelPlan last_plan_;                ///< of the last micro-batch
    std::unique_ptr<StageWork> last_work_;  ///< none: it is as the others
};

/// A step whose ranks differ in GPUs or samples: by rank the step that it takes its own part of,
/// none where its replica has no samples. Their plans, partitions and the schedules of a replica's
/// ranks are alike but for that.
[[nodiscard]] ExecutionGraph plan_step(const std::vector<const PlannedStep*>& by_rank);

/// One step of training; of a schedule without flush as many mini-batches as the plan says. Ranks
/// are those of RankMap.
[[nodiscard]] ExecutionGraph plan_step(const PlannedStep& step);

}  // namespace switchfold
