// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/load.h"
#include "sim/run/workload/workload.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Causes cost a run a mechanism and scenario: they are measured on this many steps and scaled to
/// the whole.
inline constexpr std::uint32_t kCauseSteps = 2;

/// Whether the workload computes beside its collectives.
[[nodiscard]] bool computes(const Workload& workload);

/// The experiment's machine, with what the experiment adds to its faults.
[[nodiscard]] SystemParams with_faults(const Experiment& experiment);

/// What some scenarios run: machine and workload as their runs need them.
struct PreparedVariant {
    const Experiment* experiment = nullptr;
    SystemParams system;  ///< with the experiment's faults
    PreparedWorkload workload;
    ExecutionGraph serial;  ///< without overlap; empty if nothing computes
    ExecutionGraph start;   ///< the first steps, for causes; empty if they are not looked for

    [[nodiscard]] bool computes() const { return switchfold::computes(*experiment->workload); }
    [[nodiscard]] const ExecutionGraph& graph_of(const ScenarioParams& scenario) const {
        return scenario.overlap || !computes() ? workload.graph : serial;
    }
};

/// Throws ConfigError as prepare_workload() does.
[[nodiscard]] PreparedVariant
prepare_variant(const LoadedExperiment& loaded, const Variant& variant);

}  // namespace switchfold
