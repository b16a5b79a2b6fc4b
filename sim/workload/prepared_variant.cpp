// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/prepared_variant.h"

#include "sim/kinds/graph_kind.h"
#include "sim/machine/simulate.h"
#include "workloads/graph/join.h"
#include "workloads/graph/unpaced.h"
#include "workloads/graph/without_overlap.h"

namespace switchfold {

void ComparedWorkload::separate() {
    if (!computes())
        return;
    try {
        serial = without_overlap(workload.graph);
    } catch (const NoCommonOrder& error) {
        no_serial = error.note();
    }
    workload.graph = without_pace(workload.graph, Pauses::kOfEach);
}

SystemParams with_faults(const Experiment& experiment) {
    SystemParams system = *experiment.system;
    system.faults.insert(system.faults.end(), experiment.faults.begin(), experiment.faults.end());
    return system;
}

PreparedVariant prepare_variant(
    const LoadedExperiment& loaded, const Variant& variant, const RunJobs& run,
    BuiltWorkloads* built) {
    PreparedVariant prepared;
    prepared.experiment = variant.experiment;
    prepared.params = &*variant.experiment->workload;
    prepared.system = with_faults(*variant.experiment);
    prepared.workload = prepare_workload(loaded, variant, run, built);
    const ScenarioParams& scenario = loaded.experiment.scenarios[variant.scenarios.front()];
    if (prepared.workload.left_out.contains(scenario.name))
        return prepared;
    SimulateOptions options = simulate_options(*variant.experiment);
    options.communication_sms = scenario.communication_sms.value_or(0);
    kind_of(*variant.experiment->workload)
        .as_graph()
        ->measure(prepared.workload, prepared.system, scenario, options, run);
    prepared.separate();
    if (prepared.computes() && variant.experiment->causes)
        prepared.start = first_steps(prepared.workload.graph, kCauseSteps);
    return prepared;
}

}  // namespace switchfold
