// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/experiment_run.h"
#include "sim/pool/pool.h"
#include "sim/results/causes.h"
#include "sim/results/explorer_files.h"
#include "sim/results/run_files.h"
#include "sim/simulations.h"
#include "sim/uncertainty/own_residuals.h"

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

class Probe;  // models/probe.h

/// Jobs of a scenario's runs by the mechanisms that are on; empty if its causes are not wanted.
using CauseJobs = std::map<MechanismSet, std::size_t>;

/// Kernels that a result names as those that lost most time.
inline constexpr std::size_t kWorstKernels = 10;

/// What is special about one of an experiment's simulations.
struct RunAs {
    MechanismSet on = kAllMechanisms;
    bool watched = false;   ///< a scenario's own: counters and loads go to files
    bool together = false;  ///< no rank is late
    std::span<Probe* const> probes = {};
};

/// A run whose workloads are graphs: its simulations, and the files of their operations.
class SimulatedRun : public ExperimentRun {
protected:
    SimulatedRun(const LoadedExperiment& loaded, const RunOptions& options);

    /// Adds a simulation. Machine and graph must outlive it.
    std::size_t
    add(std::string label, const Experiment& experiment, const SystemParams& system,
        const ScenarioParams& scenario, const ExecutionGraph& graph, const RunAs& as = {});
    /// Starts a round of simulations of which these graphs are the scenarios' own.
    void explore(const std::vector<const ExecutionGraph*>& graphs);
    /// Runs what was added, and forgets it.
    [[nodiscard]] std::vector<Outcome> outcomes();

    /// Rows of tables; whole machines, of which each scenario has one.
    void write_graphs(
        ResultFolder& folder, const std::vector<RanScenario>& rows,
        const std::vector<RanMachine>& machines) const;

    [[nodiscard]] const IntervalSource& intervals() const { return intervals_; }
    /// Whether the report's map and timelines have their files.
    [[nodiscard]] bool is_explored() const { return explored_; }
    [[nodiscard]] std::size_t jobs() const { return jobs_.size(); }

    std::vector<std::string> left_out_notes_;

private:
    IntervalSource intervals_;  ///< read first, so that a bad table is noticed at once
    bool explored_ = false;
    std::vector<Job> jobs_;
};

}  // namespace switchfold
