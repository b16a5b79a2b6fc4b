// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/placement/best_cut.h"
#include "training/placement/placement_choice.h"
#include "training/placement/placement_graph.h"
#include "training/placement/placement_tasks.h"
#include "training/placement/placement_work.h"
#include "training/placement/task_schedule.h"
#include "training/plan/step/parallel_plan.h"
#include "training/plan/step/plan_step.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/kernel_times.h"

#include <memory>

namespace switchfold {

/// Problems with dividing a network: the plan's key ("/cut/parts") and a sentence. Includes other
/// kinds of parallelism that a division excludes.
[[nodiscard]] PlanProblems
problems_of(const PlacementChoice& choice, const ParallelPlan& plan, const Network& network);

/// The part of each layer according to the choice. \pre problems_of() is empty, and the choice
/// lists layers
[[nodiscard]] NodeParts parts_named(const PlacementChoice& choice, const Network& network);

/// Bandwidth for a division's messages, and a GPU's memory.
struct PlacementMachine {
    double bandwidth = 0;  ///< bytes per second, in each direction
    double memory = 0;     ///< bytes; 0: unlimited
};

/// A network divided and scheduled, for given kernel times. It is not movable, because its parts
/// refer to each other. Ranks are numbered by RankMap, with one device per GPU of a replica.
class PlannedPlacement {
public:
    /// Null, with the reason, if no division fits or the method does not accept the network. \pre
    /// problems_of() is empty
    [[nodiscard]] static std::unique_ptr<PlannedPlacement> make(
        Network network, KernelTimes times, ParallelPlan plan, const PlacementChoice& choice,
        const PlacementMachine& machine, PlanProblems& problems);
    PlannedPlacement(const PlannedPlacement&) = delete;
    PlannedPlacement& operator=(const PlannedPlacement&) = delete;

    [[nodiscard]] const Network& network() const { return network_; }
    [[nodiscard]] const KernelTimes& times() const { return times_; }
    /// `pipeline` is the number of GPUs per replica.
    [[nodiscard]] const ParallelPlan& plan() const { return plan_; }
    [[nodiscard]] const PlacementChoice& choice() const { return choice_; }
    [[nodiscard]] const PlacementWork& work() const { return work_; }
    [[nodiscard]] const PlacementGraph& graph() const { return graph_; }
    [[nodiscard]] const PlacementTasks& tasks() const { return *tasks_; }
    [[nodiscard]] const FoundCut& found() const { return found_; }
    [[nodiscard]] const TaskSchedule& schedule() const { return schedule_; }

private:
    PlannedPlacement(
        Network network, KernelTimes times, ParallelPlan plan, const PlacementChoice& choice,
        const PlacementMachine& machine);

    Network network_;
    KernelTimes times_;
    ParallelPlan plan_;
    PlacementChoice choice_;
    PlacementWork work_;
    PlacementGraph graph_;
    std::unique_ptr<PlacementTasks> tasks_;
    FoundCut found_;
    TaskSchedule schedule_;
};

/// A step of the division on its GPUs.
[[nodiscard]] ExecutionGraph cut_step(const PlannedPlacement& cut);

}  // namespace switchfold
