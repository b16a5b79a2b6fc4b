// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"
#include "sim/kinds/kinds.h"
#include "sim/workload/workload.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Causes need one run per mechanism and scenario: they are measured on this many steps and scaled
/// to the whole.
inline constexpr std::uint32_t kCauseSteps = 2;

/// The experiment's machine, including the experiment's faults.
[[nodiscard]] SystemParams with_faults(const Experiment& experiment);

/// A workload with what its overlap is compared with.
struct ComparedWorkload {
    const Workload* params = nullptr;
    PreparedWorkload workload;
    ExecutionGraph serial;  ///< without overlap; empty unless has_serial()
    std::string no_serial;  ///< why it cannot run without overlap; empty if it can

    /// Finds the graphs without and with overlap, if the workload computes.
    void separate();
    [[nodiscard]] bool computes() const { return switchfold::computes(*params); }
    [[nodiscard]] bool has_serial() const { return computes() && no_serial.empty(); }
    /// Whether it can run the scenario.
    [[nodiscard]] bool can_run(const ScenarioParams& scenario) const {
        return scenario.overlap || no_serial.empty();
    }
    [[nodiscard]] const ExecutionGraph& graph_of(const ScenarioParams& scenario) const {
        return scenario.overlap || !computes() ? workload.graph : serial;
    }
};

/// Machine and workload of some scenarios, ready to run.
struct PreparedVariant : ComparedWorkload {
    const Experiment* experiment = nullptr;
    SystemParams system;   ///< including the experiment's faults
    ExecutionGraph start;  ///< the first steps, for causes; empty if they are not requested
};

/// Throws ConfigError like prepare_workload(), with what `run` runs.
[[nodiscard]] PreparedVariant prepare_variant(
    const LoadedExperiment& loaded, const Variant& variant, const RunJobs& run,
    BuiltWorkloads* built = nullptr);

}  // namespace switchfold
