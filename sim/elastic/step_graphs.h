// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/run_params.h"
#include "sim/config/training_params.h"
#include "training/elastic/change.h"
#include "training/elastic/host_costs.h"
#include "training/elastic/state_moves.h"
#include "training/plan/step/plan_step.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold {

struct Experiment;
struct PlanParams;

/// Reasons why the members of a plan's run cannot change; pointers are relative to the run's
/// parameters ("/changes/0"). `gpus`: of the machine.
[[nodiscard]] PlanProblems
why_not_run(const RunParams& run, const TrainingWorkloadParams& workload, std::uint32_t gpus);

/// Generates the steps of an experiment's run for any set of members.
class StepGraphs {
public:
    /// \pre the run has no problems. Paths are relative to `folder`. `gpus`: of the machine.
    StepGraphs(const Experiment& experiment, std::filesystem::path folder, std::uint32_t gpus);
    StepGraphs(const StepGraphs&) = delete;
    StepGraphs& operator=(const StepGraphs&) = delete;

    [[nodiscard]] const elastic::MemberGpus& gpus() const { return gpus_; }
    [[nodiscard]] elastic::Members first_members() const;
    /// Total samples of a step with this number of members.
    [[nodiscard]] std::uint64_t samples(std::size_t members) const;
    /// Weights, moments and the weights' 32-bit copy, and how members hold them.
    [[nodiscard]] const elastic::HeldState& state() const { return state_; }
    [[nodiscard]] const elastic::StateMoves& moves() const { return moves_; }
    /// Whether members divide a part of the state.
    [[nodiscard]] bool divides() const { return state_.divided.count() > 0; }
    /// Whether the state can move beside a step: weights that members divide are gathered all along
    /// it.
    [[nodiscard]] bool moves_beside() const {
        return workload_.plan->sharding != Sharding::kParameters;
    }

    /// The members' step. Adds to `problems` if it is impossible: memory, a batch smaller than the
    /// number of members.
    [[nodiscard]] ExecutionGraph
    step(const elastic::Members& members, PlanProblems& problems) const;
    /// The old members' step, with joiners in its collectives: they receive the state beside it and
    /// contribute a zero gradient. Weights of replicas that divide moments come with the gathering
    /// of the updated ones.
    [[nodiscard]] ExecutionGraph joining_step(
        const elastic::Members& old_members, const elastic::Members& joiners,
        PlanProblems& problems) const;

private:
    struct Share;
    [[nodiscard]] Share share_of(std::size_t members) const;
    [[nodiscard]] TrainingWorkloadParams workload(std::size_t members, std::uint32_t samples) const;
    [[nodiscard]] ExecutionGraph
    plan(const elastic::Members& members, std::uint32_t samples, PlanProblems& problems) const;
    /// The step of `all`, with the samples of `working`, which are among them.
    [[nodiscard]] ExecutionGraph shared_step(
        const elastic::Members& all, const elastic::Members& working, PlanProblems& problems) const;
    void find_state();

    const Experiment& experiment_;
    const TrainingWorkloadParams& workload_;
    std::filesystem::path folder_;
    elastic::MemberGpus gpus_;
    elastic::HeldState state_;
    std::vector<elastic::DeviceState> devices_;
    elastic::StateMoves moves_;
};

}  // namespace switchfold
