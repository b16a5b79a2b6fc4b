// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/prepared_variant.h"

#include "sim/workload/folded_plan.h"
#include "sim/workload/kernel_beside.h"
#include "workloads/graph/join.h"
#include "workloads/graph/without_overlap.h"

#include <variant>

namespace switchfold {

bool computes(const Workload& workload) {
    return !std::holds_alternative<CollectiveWorkloadParams>(workload) &&
           !std::holds_alternative<ExpertsWorkloadParams>(workload);
}

SystemParams with_faults(const Experiment& experiment) {
    SystemParams system = *experiment.system;
    system.faults.insert(system.faults.end(), experiment.faults.begin(), experiment.faults.end());
    return system;
}

PreparedVariant
prepare_variant(const LoadedExperiment& loaded, const Variant& variant, const RunJobs& run) {
    PreparedVariant prepared;
    prepared.experiment = variant.experiment;
    prepared.system = with_faults(*variant.experiment);
    prepared.workload = prepare_workload(loaded, variant, run);
    const ScenarioParams& scenario = loaded.experiment.scenarios[variant.scenarios.front()];
    if (prepared.workload.left_out.contains(scenario.name))
        return prepared;
    SimulateOptions options = simulate_options(*variant.experiment);
    options.communication_sms = scenario.communication_sms.value_or(0);
    if (prepared.workload.folded)
        prepared.workload.graph = measured_step_apart(
            *prepared.workload.folded, prepared.system, scenario.policies(), options, run);
    if (auto& loops = prepared.workload.loops;
        loops && (loops->kernels == 0 || loops->collectives == 0)) {
        *loops = with_counts(*loops, prepared.system, scenario.policies(), options, run);
        prepared.workload.graph = loops_graph(*loops);
    }
    if (!prepared.computes())
        return prepared;
    try {
        prepared.serial = without_overlap(prepared.workload.graph);
    } catch (const NoCommonOrder& error) {
        prepared.no_serial = error.note();
    }
    if (variant.experiment->causes)
        prepared.start = first_steps(prepared.workload.graph, kCauseSteps);
    return prepared;
}

}  // namespace switchfold
