// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/placement/best_placement.h"
#include "training/placement/placement_choice.h"
#include "training/placement/placement_graph.h"
#include "training/placement/placement_tasks.h"
#include "training/placement/placement_work.h"
#include "training/placement/task_schedule.h"
#include "training/plan/average/averaged_step.h"
#include "training/plan/step/parallel_plan.h"
#include "training/plan/step/plan_step.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/kernel_times.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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
class PlacedStep {
public:
    /// Null, with the reason, if no division fits or the method does not accept the network. \pre
    /// problems_of() is empty
    [[nodiscard]] static std::unique_ptr<PlacedStep> make(
        Network network, KernelTimes times, ParallelPlan plan, const PlacementChoice& choice,
        const PlacementMachine& machine, PlanProblems& problems);
    PlacedStep(const PlacedStep&) = delete;
    PlacedStep& operator=(const PlacedStep&) = delete;

    [[nodiscard]] const Network& network() const { return network_; }
    /// Of the GPU for which the division was found, or of another one.
    [[nodiscard]] const KernelTimes& times(std::uint32_t kind = 0) const {
        return kind == 0 ? times_ : others_[kind - 1]->times;
    }
    /// `pipeline` is the number of GPUs per replica.
    [[nodiscard]] const ParallelPlan& plan() const { return plan_; }
    [[nodiscard]] const PlacementChoice& choice() const { return choice_; }
    [[nodiscard]] const PlacementWork& work(std::uint32_t kind = 0) const {
        return kind == 0 ? work_ : others_[kind - 1]->work;
    }
    /// Some ranks have another GPU; the division and the order of tasks stay. \returns its number
    std::uint32_t add_kind(KernelTimes times);
    void set_kinds(std::vector<std::uint32_t> by_rank) { kinds_ = std::move(by_rank); }
    [[nodiscard]] std::uint32_t kind(std::uint32_t rank) const {
        return kinds_.empty() ? 0 : kinds_[rank];
    }
    [[nodiscard]] const PlacementGraph& graph() const { return graph_; }
    [[nodiscard]] const PlacementTasks& tasks() const { return *tasks_; }
    [[nodiscard]] const FoundPlacement& found() const { return found_; }
    [[nodiscard]] const TaskSchedule& schedule() const { return schedule_; }

private:
    PlacedStep(
        Network network, KernelTimes times, ParallelPlan plan, const PlacementChoice& choice,
        const PlacementMachine& machine);

    struct OtherGpu {
        OtherGpu(
            const Network& network, KernelTimes of_gpu, const ParallelPlan& plan,
            const PlacementChoice& choice) :
            times(std::move(of_gpu)), work(network, times, plan, choice) {}
        KernelTimes times;
        PlacementWork work;
    };

    Network network_;
    KernelTimes times_;
    ParallelPlan plan_;
    PlacementChoice choice_;
    PlacementWork work_;
    std::vector<std::unique_ptr<OtherGpu>> others_;
    std::vector<std::uint32_t> kinds_;  ///< by rank; empty: all are alike
    PlacementGraph graph_;
    std::unique_ptr<PlacementTasks> tasks_;
    FoundPlacement found_;
    TaskSchedule schedule_;
};

/// A step of the division on its GPUs.
[[nodiscard]] ExecutionGraph placed_step_graph(const PlacedStep& cut);
/// Of one replica alone.
[[nodiscard]] ReplicaApart placed_step_apart(const PlacedStep& cut, std::uint32_t replica);

}  // namespace switchfold
