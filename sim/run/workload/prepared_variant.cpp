// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/prepared_variant.h"

#include "sim/run/workload/folded_plan.h"
#include "workloads/graph/without_overlap.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

/// The operations launched before step `steps`.
ExecutionGraph first_steps(const ExecutionGraph& graph, std::uint32_t steps) {
    ExecutionGraph out = graph;
    out.steps = std::min(graph.steps, steps);
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> cut;
    for (auto& rank : out.ranks) {
        auto& shorter = cut[rank.get()];
        if (!shorter) {
            auto copy = std::make_shared<RankGraph>(*rank);
            const auto end = std::find_if(
                copy->operations.begin(), copy->operations.end(), [&](const Operation& operation) {
                    return operation.step >= steps;
                });
            copy->operations.shrink(static_cast<std::size_t>(end - copy->operations.begin()));
            shorter = std::move(copy);
        }
        rank = shorter;
    }
    return out;
}

}  // namespace

bool computes(const Experiment& experiment) {
    return !std::holds_alternative<CollectiveWorkloadParams>(experiment.workload) &&
           !std::holds_alternative<ExpertsWorkloadParams>(experiment.workload);
}

PreparedVariant prepare_variant(const LoadedExperiment& loaded, const Variant& variant) {
    PreparedVariant prepared;
    prepared.experiment = variant.experiment;
    prepared.system = *variant.experiment->system;
    prepared.system.faults.insert(
        prepared.system.faults.end(),
        variant.experiment->faults.begin(),
        variant.experiment->faults.end());
    prepared.workload = prepare_workload(loaded, variant);
    const ScenarioParams& scenario = loaded.experiment.scenarios[variant.scenarios.front()];
    if (prepared.workload.left_out.contains(scenario.name))
        return prepared;
    if (prepared.workload.folded) {
        SimulateOptions options;
        options.limits = variant.experiment->limits;
        options.exact = variant.experiment->exact;
        options.communication_sms = scenario.communication_sms.value_or(0);
        prepared.workload.graph = measured_step_apart(
            *prepared.workload.folded, prepared.system, scenario.policies(), options);
    }
    if (!prepared.computes())
        return prepared;
    prepared.serial = without_overlap(prepared.workload.graph);
    if (variant.experiment->causes)
        prepared.start = first_steps(prepared.workload.graph, kCauseSteps);
    return prepared;
}

}  // namespace switchfold
