// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/plan/schedule/pipeline_schedule.h"
#include "training/plan/step/layer_memory.h"
#include "training/plan/step/parallel_plan.h"
#include "training/plan/step/stage_work.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/kernel_times.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Problems of a plan for a network: the plan's key ("/tensor") and a sentence.
using PlanProblems = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] PlanProblems problems_of(const ParallelPlan& plan, const Network& network);

/// The schedule of a valid plan; searched schedules use the stages' times in `work`.
[[nodiscard]] PipelineSchedule
schedule_of(const ParallelPlan& plan, const StageWork* work = nullptr);

/// Whether its schedule updates without a flush; false for one that is not known. No schedule is
/// made: the plan need not be valid.
[[nodiscard]] bool never_flushes(const ParallelPlan& plan);

/// Number of stages of its schedule, which is not made. \pre the plan is valid
[[nodiscard]] std::uint32_t stages_of(const ParallelPlan& plan);

/// Most mini-batches until a pipeline without flush is full; it takes as many to drain.
[[nodiscard]] std::uint32_t rounds_to_fill(const ParallelPlan& plan);

/// Least number of mini-batches after which all replicas of every stage have had equally many.
[[nodiscard]] std::uint32_t rounds_of_replicas(const ParallelPlan& plan);

/// Kernel times of the GPUs of each stage; the slowest counts.
using GpusOfStages = std::vector<std::vector<const KernelTimes*>>;

/// Divides the network into stages whose longest is as short as can be, cut at starts of blocks.
[[nodiscard]] std::vector<std::uint32_t> balanced_partition(
    const Network& network, const KernelTimes& times, const ParallelPlan& plan,
    std::uint32_t stages);
[[nodiscard]] std::vector<std::uint32_t>
balanced_partition(const Network& network, const GpusOfStages& gpus, const ParallelPlan& plan);

/// The partition of a plan that names none. Of the balanced one, the equal one, that whose longest
/// stage is shortest if the head may stand alone, and that with the least sum of squares of the
/// stages' times, the one whose passes end first in the schedule's order (replay()), messages
/// aside. Without flush the balanced one.
[[nodiscard]] std::vector<std::uint32_t> best_partition(
    const Network& network, const GpusOfStages& gpus, const ParallelPlan& plan,
    const PipelineSchedule& schedule);
[[nodiscard]] std::vector<std::uint32_t> best_partition(
    const Network& network, const KernelTimes& times, const ParallelPlan& plan,
    const PipelineSchedule& schedule);

/// Equally many blocks per stage, as in Megatron-LM: the layers before the first and after the last
/// block count as one block each if that divides evenly, and otherwise join their neighbour. Empty
/// if neither divides evenly.
[[nodiscard]] std::vector<std::uint32_t>
equal_partition(const Network& network, std::uint32_t stages);

/// A valid plan, divided into stages and scheduled, for a network and its kernel times. It is not
/// movable, because its parts refer to each other.
class TrainingStep {
public:
    TrainingStep(Network network, KernelTimes times, ParallelPlan plan);
    TrainingStep(const TrainingStep&) = delete;
    TrainingStep& operator=(const TrainingStep&) = delete;

    [[nodiscard]] const Network& network() const { return network_; }
    [[nodiscard]] const KernelTimes& times() const { return times_; }
    [[nodiscard]] const ParallelPlan& plan() const { return plan_; }
    [[nodiscard]] const StageWork& work() const { return *work_; }
    /// The same for one micro-batch: the last one of a step may have fewer samples.
    [[nodiscard]] const StageWork& work(std::uint32_t micro_batch) const {
        return last_work_ && micro_batch + 1 == schedule_.micro_batches ? *last_work_ : *work_;
    }
    /// Samples per replica and step.
    [[nodiscard]] std::uint32_t samples() const;
    [[nodiscard]] const PipelineSchedule& schedule() const { return schedule_; }

private:
    Network network_;
    KernelTimes times_;
    ParallelPlan plan_;
    PipelineSchedule schedule_;
    std::unique_ptr<StageWork> work_;
    ParallelPlan last_plan_;                ///< for the last micro-batch
    std::unique_ptr<StageWork> last_work_;  ///< null: equal to the others
};

/// A step whose ranks differ in GPUs or samples. `by_rank` holds the step from which each rank
/// takes its part, or null for a rank whose replica has no samples. Apart from that, plans,
/// partitions and the schedules within a replica must be equal.
/// `memories`: null if all data stay on the GPUs.
[[nodiscard]] ExecutionGraph
plan_step(const std::vector<const TrainingStep*>& by_rank, const LayerMemories* memories = nullptr);

/// One training step; for a schedule without flush, as many mini-batches as the plan states. Ranks
/// are numbered by RankMap.
[[nodiscard]] ExecutionGraph
plan_step(const TrainingStep& step, const LayerMemories* memories = nullptr);

}  // namespace switchfold
