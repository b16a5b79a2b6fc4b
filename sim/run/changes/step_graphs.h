// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/run_params.h"
#include "sim/run/config/training_params.h"
#include "workloads/changes/change.h"
#include "workloads/changes/state_transfer.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/plan/step/plan_step.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace switchfold {

struct Experiment;
struct PlanParams;

/// Why members of a plan's run cannot change; pointers below the run's parameters ("/changes/0").
/// A member is a replica that is one GPU and holds all of the state. `kinds` of GPUs; `gpus`: of
/// the machine.
[[nodiscard]] PlanProblems why_not_run(
    const RunParams& run,
    const TrainingWorkloadParams& workload,
    std::size_t kinds,
    std::uint32_t gpus);

/// Makes the steps of an experiment's run, for any set of members.
class StepGraphs {
public:
    /// For a run that has no problems. `folder` is what paths are relative to.
    StepGraphs(const Experiment& experiment, std::filesystem::path folder);

    [[nodiscard]] changes::Members first_members() const;
    /// Of a step of so many members, all together.
    [[nodiscard]] std::uint64_t samples(std::size_t members) const;
    /// Weights, moments and the weights' 32-bit copy, of one member.
    [[nodiscard]] Bytes state() const { return state_; }

    /// Their step. Adds to `problems` why there is none: memory, a batch smaller than the members.
    [[nodiscard]] ExecutionGraph
    step(const changes::Members& members, PlanProblems& problems) const;
    /// The old members' step with all of the new ones in its collectives: joiners get the state
    /// beside it and bring a zero gradient.
    [[nodiscard]] ExecutionGraph joining_step(
        const changes::Members& old_members,
        const changes::Members& joiners,
        PlanProblems& problems) const;

private:
    struct Share;
    [[nodiscard]] Share share_of(std::size_t members) const;
    [[nodiscard]] ExecutionGraph
    plan(std::size_t ranks, std::uint32_t samples, PlanProblems& problems) const;

    const Experiment& experiment_;
    const TrainingWorkloadParams& workload_;
    std::filesystem::path folder_;
    Bytes state_;
};

}  // namespace switchfold
