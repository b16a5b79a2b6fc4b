// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kinds/workload_kind.h"
#include "sim/pool/pool.h"

namespace switchfold {

class WorkloadBuilder;
class WorkloadContext;
struct PreparedWorkload;
struct SimulateOptions;

/// A kind of workload that ranks on GPUs execute as a graph, alone on a machine or beside others.
class GraphKind : public WorkloadKind {
public:
    using WorkloadKind::WorkloadKind;
    [[nodiscard]] const GraphKind* as_graph() const final { return this; }
    void check(const Experiment& experiment, ParamChecker& checker) const override;
    [[nodiscard]] std::unique_ptr<ExperimentRun>
    start(const LoadedExperiment& loaded, const RunOptions& options) const override;

    /// Makes the graph of one of its workloads, which must outlive the builder.
    [[nodiscard]] virtual std::unique_ptr<WorkloadBuilder> builder(
        const Workload& workload, const WorkloadContext& context, PreparedWorkload& out) const = 0;
    /// Settles what is open in the graph of a scenario by simulations on its machine: what pieces
    /// and collectives of a folded one take.
    virtual void measure(
        PreparedWorkload& workload, const SystemParams& system, const ScenarioParams& scenario,
        const SimulateOptions& options, const RunJobs& run) const;
};

}  // namespace switchfold
