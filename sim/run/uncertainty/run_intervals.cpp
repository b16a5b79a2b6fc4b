// SPDX-License-Identifier: Apache-2.0
#include "sim/run/uncertainty/run_intervals.h"

#include "models/collectives/engine.h"
#include "sim/run/results/summary.h"
#include "sim/run/uncertainty/measured_parts.h"

#include <map>
#include <string>

namespace switchfold {

namespace {

void set_intervals(
    CollectiveResult& c, const PartKind& kind, const intervals::Residuals& residuals) {
    if (!(c.time_us > 0))
        return;
    const FigureInterval time = time_interval(c.time_us, kind, residuals);
    c.intervals["time_us"] = time;
    c.intervals["algorithm_bandwidth_GBps"] =
        inverse_interval(c.algorithm_bandwidth_GBps, c.time_us, time);
    c.intervals["bus_bandwidth_GBps"] = inverse_interval(c.bus_bandwidth_GBps, c.time_us, time);
}

}  // namespace

StepParts parts_of_run(
    const ExecutionGraph& graph,
    const Outcome& outcome,
    const SystemParams& system,
    const PreparedWorkload& workload) {
    const PartKinds kinds(system);
    const KernelsOf kernels = workload.loops               ? KernelsOf::kLoops
                              : workload.kernels_as_traced ? KernelsOf::kTrace
                                                           : KernelsOf::kModel;
    StepParts parts = step_parts(graph, outcome, kinds, kernels);
    const std::string& type = workload.report.type;
    if (type == "training" || type == "trace")
        parts.step =
            kinds.of_step(type == "trace" ? "replayed" : "training", workload.report.ranks);
    return parts;
}

bool tell_single_collective(
    const ExecutionGraph& graph,
    const Outcome& outcome,
    const SystemParams& system,
    const intervals::Residuals& residuals,
    ScenarioResult& out) {
    const std::vector<PartKind> kinds = collective_kinds(graph, outcome, PartKinds(system));
    // Results are in another order than records.
    for (CollectiveResult& c : out.collectives)
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (c.name == name_of(graph, outcome.collectives[i]))
                set_intervals(c, kinds[i], residuals);
    if (kinds.size() != 1)
        return false;
    for (const auto& [key, us] :
         {std::pair{"iteration_us", out.iteration_us},
          std::pair{"exposed_communication_us", out.exposed_communication_us}})
        if (us > 0)
            out.intervals[key] = time_interval(us, kinds.front(), residuals);
    return true;
}

void add_intervals(
    std::vector<IntervalCase>& cases, const IntervalSource& source, ExperimentResult& result) {
    if (source.residuals && !cases.empty())
        tell_intervals(cases, *source.residuals);
    if (!source.residuals && !source.why_none.empty())
        result.workload.notes.push_back(source.why_none);
}

}  // namespace switchfold
