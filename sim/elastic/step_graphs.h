// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/run_params.h"
#include "sim/config/training_params.h"
#include "training/elastic/change.h"
#include "training/elastic/state_transfer.h"
#include "training/plan/step/plan_step.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace switchfold {

struct Experiment;
struct PlanParams;

/// Reasons why the members of a plan's run cannot change; pointers are relative to the run's
/// parameters ("/changes/0"). Each member must be a replica on one GPU that holds the whole state.
/// `kinds`: of GPUs; `gpus`: of the machine.
[[nodiscard]] PlanProblems why_not_run(
    const RunParams& run, const TrainingWorkloadParams& workload, std::size_t kinds,
    std::uint32_t gpus);

/// Generates the steps of an experiment's run for any set of members.
class StepGraphs {
public:
    /// \pre the run has no problems. Paths are relative to `folder`.
    StepGraphs(const Experiment& experiment, std::filesystem::path folder);

    [[nodiscard]] elastic::Members first_members() const;
    /// Total samples of a step with this number of members.
    [[nodiscard]] std::uint64_t samples(std::size_t members) const;
    /// Weights, moments and the weights' 32-bit copy of one member.
    [[nodiscard]] Bytes state() const { return state_; }
    [[nodiscard]] Bytes weights() const { return weights_; }

    /// The members' step. Adds to `problems` if it is impossible: memory, a batch smaller than the
    /// number of members.
    [[nodiscard]] ExecutionGraph
    step(const elastic::Members& members, PlanProblems& problems) const;
    /// The old members' step, with joiners in its collectives: they receive the state beside it and
    /// contribute a zero gradient.
    [[nodiscard]] ExecutionGraph joining_step(
        const elastic::Members& old_members, const elastic::Members& joiners,
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
    Bytes weights_;
};

}  // namespace switchfold
