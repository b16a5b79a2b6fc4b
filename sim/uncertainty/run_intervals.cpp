// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/run_intervals.h"

#include "models/collectives/engine.h"
#include "sim/kinds/kinds.h"
#include "sim/results/summary.h"
#include "sim/uncertainty/measured_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace switchfold {

namespace {

/// `error`: of a time of 1.
void set_intervals(CollectiveResult& c, const FigureInterval& error) {
    if (!(c.time_us > 0))
        return;
    c.intervals["time_us"] = scaled(error, c.time_us);
    c.intervals["algorithm_bandwidth_GBps"] =
        inverse_interval(c.algorithm_bandwidth_GBps, 1, error);
    c.intervals["bus_bandwidth_GBps"] = inverse_interval(c.bus_bandwidth_GBps, 1, error);
}

}  // namespace

PartsOfStep parts_of_run(
    const ExecutionGraph& graph, const Outcome& outcome, const SystemParams& system,
    const PreparedWorkload& workload) {
    const PartKinds kinds(system);
    const KernelsOf kernels = workload.loops               ? KernelsOf::kLoops
                              : workload.kernels_as_traced ? KernelsOf::kTrace
                                                           : KernelsOf::kModel;
    PartsOfStep parts = step_parts(graph, outcome, kinds, kernels);
    parts.kernels_between = workload.kernels_between;
    const WorkloadKind* const kind = kind_named(workload.report.type);
    if (kind != nullptr && !kind->facts().measured_as.empty())
        parts.step = kinds.of_step(std::string(kind->facts().measured_as), workload.report.ranks);
    return parts;
}

OpenTime left_open_by_one_rank(const ScenarioFigures& figures, const OneRankTimes& traced) {
    const double busy = figures.forward_us + figures.backward_us + figures.optimizer_us +
                        figures.other_us + figures.exposed_communication_us +
                        figures.exposed_copies_us.value_or(0);
    const double pauses = std::max(0.0, figures.iteration_us - busy - to_microseconds(traced.idle));
    const double hidden = to_microseconds(traced.overlapped);
    const double held = to_microseconds(traced.held);
    // Without messages that stand for others, all ranks hide what this one does.
    return {
        pauses + std::min(held, hidden), held > 0 ? held + hidden : 0,
        "one rank's trace leaves open what others wait for"};
}

std::string note_of(const OpenTime& open, double iteration_us) {
    constexpr double kToldFrom = 0.01;
    if (std::max(open.less_us, open.more_us) < kToldFrom * iteration_us)
        return {};
    return fmt::format(
        "{}: without overlap an iteration may take {:.0f} us less (pauses that the trace does not "
        "have, and messages that wait less){}",
        open.why, open.less_us,
        open.more_us > 0
            ? fmt::format(" or {:.0f} us more (other stages hide communication too)", open.more_us)
            : "");
}

bool tell_single_collective(
    const ExecutionGraph& graph, const Outcome& outcome, const SystemParams& system,
    const intervals::Residuals& residuals, ScenarioResult& out) {
    const std::vector<PartKind> kinds = collective_kinds(graph, outcome, PartKinds(system));
    std::vector<FigureInterval> errors;
    for (const PartKind& kind : kinds)
        errors.push_back(time_interval(1, kind, residuals));
    // Results are in another order than records.
    for (CollectiveResult& c : out.collectives)
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (c.name == name_of(graph, outcome.collectives[i]))
                set_intervals(c, errors[i]);
    if (kinds.size() != 1)
        return false;
    for (const auto& [key, us] :
         {std::pair{"iteration_us", out.iteration_us},
          std::pair{"exposed_communication_us", out.exposed_communication_us}})
        if (us > 0)
            out.intervals[key] = scaled(errors.front(), us);
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
