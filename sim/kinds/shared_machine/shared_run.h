// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kinds/shared_machine/share_of.h"
#include "sim/results/slowdowns.h"
#include "sim/simulated_run.h"
#include "sim/uncertainty/run_intervals.h"
#include "sim/workload/prepared_variant.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace switchfold {

/// The run of workloads that share a machine: in each scenario every workload alone, then all
/// together. The result has one row per scenario and workload, "SCENARIO: WORKLOAD".
class SharedRun final : public SimulatedRun {
public:
    SharedRun(const LoadedExperiment& loaded, const RunOptions& options) :
        SimulatedRun(loaded, options) {}
    void simulate() override;
    void tell(ExperimentResult& result) const override;
    void write(ResultFolder& folder, const ExperimentResult& result) const override;

private:
    /// One of the workloads, in one variant.
    struct Tenant : ComparedWorkload {
        const PlacedWorkloadParams* placed = nullptr;
        std::size_t serial_once = 0;  ///< its run alone on the machine, without overlap
    };
    /// The workloads of one variant.
    struct Sharing {
        const Experiment* experiment = nullptr;
        SystemParams system;
        std::vector<Tenant> tenants;
    };
    /// A scenario: its workloads alone, then together.
    struct Shared {
        Sharing* sharing = nullptr;
        std::vector<std::size_t> once;      ///< jobs of the first round, by tenant: alone, once
        ExecutionGraph whole;               ///< all workloads, with their repetitions
        std::vector<ExecutionGraph> parts;  ///< each tenant's part of it
        std::vector<std::size_t> alone;     ///< jobs of the second round: alone, so often
        std::size_t together = 0;
        CauseJobs with;
    };
    /// A tenant's share of a run.
    using Share = std::function<ShareOfRun(const Outcome& run)>;

    // Prepares and simulates. (shared_run.cpp)

    void prepare();
    void prepare_tenants(const Variant& variant, Sharing& sharing, std::set<std::string>& left_out);
    std::size_t add_run(
        const Sharing& sharing, const ScenarioParams& scenario, std::string label,
        const ExecutionGraph& graph, const RunAs& as = {});
    void plan_alone();
    void put_together(std::size_t scenario);
    [[nodiscard]] std::vector<std::uint32_t> repetitions(const Shared& shared) const;
    void plan_together();
    [[nodiscard]] std::string label_of(std::size_t scenario, std::size_t tenant) const;

    // Tells. (shared_rows.cpp)

    [[nodiscard]] ScenarioResult
    row(std::size_t scenario, std::size_t tenant, PartsOfStep& parts) const;
    void tell_slowdowns_of(
        std::size_t scenario, std::size_t tenant, const Share& share, const ShareOfRun& own,
        const PhaseTimes& now, ScenarioResult& s) const;
    void tell_intervals(std::vector<IntervalCase>& cases, ExperimentResult& result) const;
    [[nodiscard]] WorkloadResult whole_report() const;

    std::deque<Sharing> sharings_;
    std::vector<Shared> scenarios_;
    std::vector<Outcome> once_;
    std::vector<Outcome> outcomes_;
};

}  // namespace switchfold
