// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/rank_gpus.h"
#include "sim/machine/simulate.h"
#include "sim/workload/workload.h"
#include "training/plan/step/plan_step.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Context of workload readers: the experiment, the scenarios that run it, and error reporting.
class WorkloadContext {
public:
    WorkloadContext(const LoadedExperiment& loaded, const Variant& variant, const RunJobs& run);
    /// For one of several workloads that share the machine.
    WorkloadContext(
        const LoadedExperiment& loaded, const Variant& variant, const PlacedWorkloadParams& placed,
        std::string pointer, const RunJobs& run);

    [[nodiscard]] const Experiment& experiment() const { return *variant_.experiment; }
    [[nodiscard]] const SystemParams& system() const { return *experiment().system; }
    /// Without what scenarios set.
    [[nodiscard]] const SystemParams& written_system() const { return *loaded_.experiment.system; }
    /// Without what scenarios, the command line or a sweep change of its GPUs.
    [[nodiscard]] const SystemParams& described_system() const {
        return loaded_.described ? *loaded_.described : written_system();
    }
    [[nodiscard]] const std::filesystem::path& file() const { return loaded_.file; }
    /// All scenarios; those at variant_scenarios() run this workload.
    [[nodiscard]] const std::vector<ScenarioParams>& scenarios() const {
        return loaded_.experiment.scenarios;
    }
    [[nodiscard]] const std::vector<std::size_t>& variant_scenarios() const {
        return variant_.scenarios;
    }
    [[nodiscard]] bool default_scenarios() const { return loaded_.default_scenarios; }
    [[nodiscard]] std::uint32_t gpus() const { return gpus_; }  ///< available to the workload

    /// Whether it shares the machine.
    [[nodiscard]] bool is_placed() const { return placed_ != nullptr; }
    /// The GPUs of the workload's ranks.
    [[nodiscard]] RankGpus rank_gpus() const {
        return placed_ == nullptr ? RankGpus(system()) : RankGpus(system(), placed_->on.ranks);
    }
    /// The workload's rank on a GPU. \pre it runs there
    [[nodiscard]] std::uint32_t workload_rank(std::uint32_t gpu) const;
    /// Moves the graph, whose ranks count from 0, to the GPUs that it runs on.
    void place(ExecutionGraph& graph) const;

    /// Throws ConfigError. Blames the scenario whose `set` made the experiment, if any. Pointers
    /// that begin with "/workload" refer to the workload, wherever it is.
    [[noreturn]] void fail(const std::string& pointer, const std::string& message) const;
    [[noreturn]] void fail_all(const PlanProblems& problems) const;

    /// Fails because memory lacks, or notes it if the experiment ignores memory.
    void lack_memory(
        const std::string& pointer, const std::string& message, PreparedWorkload& out) const;

    /// The workload's number of ranks; 0: all.
    [[nodiscard]] std::uint32_t ranks_of(std::uint32_t ranks) const;

    /// Runs the simulations that a reader needs.
    [[nodiscard]] const RunJobs& run() const { return run_; }

private:
    const LoadedExperiment& loaded_;
    const Variant& variant_;
    const PlacedWorkloadParams* placed_ = nullptr;
    std::string pointer_ = "/workload";
    std::uint32_t gpus_;
    const RunJobs& run_;
};

/// An algorithm that the machine does not support is bad input: throws ConfigError for a scenario
/// that the experiment defines, and omits a default one.
void check_scenarios(const WorkloadContext& context, PreparedWorkload& workload);

}  // namespace switchfold
