// SPDX-License-Identifier: Apache-2.0
#include "sim/simulated_run.h"

#include "sim/config/rank_gpus.h"

#include <utility>

namespace switchfold {

SimulatedRun::SimulatedRun(const LoadedExperiment& loaded, const RunOptions& options) :
    ExperimentRun(loaded, options),
    intervals_(with_own_residuals(options.intervals, loaded.experiment.system.path)) {}

std::size_t SimulatedRun::add(
    std::string label, const Experiment& experiment, const SystemParams& system,
    const ScenarioParams& scenario, const ExecutionGraph& graph, const RunAs& as) {
    SimulateOptions simulated = simulate_options(experiment, scenario);
    simulated.contention = contention_with(as.on);
    simulated.counters = as.watched && options().timeline;
    simulated.loads = as.watched && explored_;
    simulated.peers_together = as.together;
    simulated.probes.assign(as.probes.begin(), as.probes.end());
    jobs_.push_back(simulation(std::move(label), system, graph, scenario.policies(), simulated));
    return jobs_.size() - 1;
}

void SimulatedRun::explore(const std::vector<const ExecutionGraph*>& graphs) {
    std::size_t operations = 0;
    for (const ExecutionGraph* graph : graphs)
        operations += operations_of(*graph);
    explored_ = options().out && explored(options().timeline, operations);
}

std::vector<Outcome> SimulatedRun::outcomes() {
    return run_simulations(std::exchange(jobs_, {}), options());
}

void SimulatedRun::write_graphs(
    ResultFolder& folder, const std::vector<RanScenario>& rows,
    const std::vector<RanMachine>& machines) const {
    std::vector<RanScenario> wholes;
    for (const RanMachine& machine : machines)
        wholes.push_back(machine.scenario);
    write_tables(folder, rows);
    write_counters(folder, wholes);
    if (explored_)
        write_communication(folder, rows);
    write_links(folder, machines);
    if (options().timeline)
        write_timeline(folder, wholes, RankGpus(machines.front().system).of(0));
}

}  // namespace switchfold
