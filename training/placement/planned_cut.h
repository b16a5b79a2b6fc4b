// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/placement/best_cut.h"
#include "training/placement/cut_choice.h"
#include "training/placement/cut_graph.h"
#include "training/placement/cut_tasks.h"
#include "training/placement/cut_work.h"
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
problems_of(const CutChoice& choice, const ParallelPlan& plan, const Network& network);

/// The part of each layer according to the choice. \pre problems_of() is empty, and the choice
/// lists layers
[[nodiscard]] NodeParts parts_named(const CutChoice& choice, const Network& network);

/// Bandwidth for a division's messages, and a GPU's memory.
struct CutMachine {
    double bandwidth = 0;  ///< bytes per second, in each direction
    double memory = 0;     ///< bytes; 0: unlimited
};

/// A network divided and scheduled, for given kernel times. It is not movable, because its parts
/// refer to each other. Ranks are numbered by RankMap, with one device per GPU of a replica.
class PlannedCut {
public:
    /// Null, with the reason, if no division fits or the method does not accept the network. \pre
    /// problems_of() is empty
    [[nodiscard]] static std::unique_ptr<PlannedCut> make(
        Network network,
        KernelTimes times,
        ParallelPlan plan,
        const CutChoice& choice,
        const CutMachine& machine,
        PlanProblems& problems);
    PlannedCut(const PlannedCut&) = delete;
    PlannedCut& operator=(const PlannedCut&) = delete;

    [[nodiscard]] const Network& network() const { return network_; }
    [[nodiscard]] const KernelTimes& times() const { return times_; }
    /// `pipeline` is the number of GPUs per replica.
    [[nodiscard]] const ParallelPlan& plan() const { return plan_; }
    [[nodiscard]] const CutChoice& choice() const { return choice_; }
    [[nodiscard]] const CutWork& work() const { return work_; }
    [[nodiscard]] const CutGraph& graph() const { return graph_; }
    [[nodiscard]] const CutTasks& tasks() const { return *tasks_; }
    [[nodiscard]] const FoundCut& found() const { return found_; }
    [[nodiscard]] const TaskSchedule& schedule() const { return schedule_; }

private:
    PlannedCut(
        Network network,
        KernelTimes times,
        ParallelPlan plan,
        const CutChoice& choice,
        const CutMachine& machine);

    Network network_;
    KernelTimes times_;
    ParallelPlan plan_;
    CutChoice choice_;
    CutWork work_;
    CutGraph graph_;
    std::unique_ptr<CutTasks> tasks_;
    FoundCut found_;
    TaskSchedule schedule_;
};

/// A step of the division on its GPUs.
[[nodiscard]] ExecutionGraph cut_step(const PlannedCut& cut);

}  // namespace switchfold
