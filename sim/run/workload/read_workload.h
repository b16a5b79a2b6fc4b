// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/rank_gpus.h"
#include "sim/run/workload/workload.h"
#include "workloads/plan/step/plan_step.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// What readers of workloads share: the experiment, the scenarios that run it, and how problems are
/// told.
class WorkloadContext {
public:
    WorkloadContext(const LoadedExperiment& loaded, const Variant& variant);
    /// Of one of several workloads that share the machine.
    WorkloadContext(
        const LoadedExperiment& loaded,
        const Variant& variant,
        const PlacedWorkloadParams& placed,
        std::string pointer);

    [[nodiscard]] const Experiment& experiment() const { return *variant_.experiment; }
    [[nodiscard]] const SystemParams& system() const { return *experiment().system; }
    [[nodiscard]] const std::filesystem::path& file() const { return loaded_.file; }
    /// Of all scenarios those at variant_scenarios() run this workload.
    [[nodiscard]] const std::vector<ScenarioParams>& scenarios() const {
        return loaded_.experiment.scenarios;
    }
    [[nodiscard]] const std::vector<std::size_t>& variant_scenarios() const {
        return variant_.scenarios;
    }
    [[nodiscard]] bool default_scenarios() const { return loaded_.default_scenarios; }
    [[nodiscard]] std::uint32_t gpus() const { return gpus_; }  ///< that there are for it

    /// Whether it shares the machine.
    [[nodiscard]] bool is_placed() const { return placed_ != nullptr; }
    /// The GPUs of the workload's ranks.
    [[nodiscard]] RankGpus rank_gpus() const {
        return placed_ == nullptr ? RankGpus(system()) : RankGpus(system(), placed_->on.ranks);
    }
    /// Puts the graph, whose ranks count from 0, on the GPUs that it runs on.
    void place(ExecutionGraph& graph) const;

    /// Throws ConfigError. Where a scenario's `set` made the experiment, it is blamed. Pointers
    /// that begin with "/workload" are of the workload, wherever it stands.
    [[noreturn]] void fail(const std::string& pointer, const std::string& message) const;
    [[noreturn]] void fail_all(const PlanProblems& problems) const;

    /// As many as the workload says; all for 0.
    [[nodiscard]] std::uint32_t ranks_of(std::uint32_t ranks) const;

private:
    const LoadedExperiment& loaded_;
    const Variant& variant_;
    const PlacedWorkloadParams* placed_ = nullptr;
    std::string pointer_ = "/workload";
    std::uint32_t gpus_;
};

/// Reads or makes a workload of each type; what it says of itself goes into the report. They throw
/// ConfigError.
void read(const TraceWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);
void read(const CollectiveWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);
void read(const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);
void read(const ExpertsWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);

/// An algorithm that the machine cannot do is bad input, not a failure half way through: throws
/// ConfigError for a scenario that the experiment names, leaves out a default one.
void check_scenarios(const WorkloadContext& context, PreparedWorkload& workload);

}  // namespace switchfold
