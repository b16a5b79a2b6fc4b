// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/trace_params.h"
#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/workload/workload.h"
#include "validation/machines/machines.h"
#include "validation/replay/step_comparison.h"
#include "validation/replay/trace_folders.h"
#include "workloads/readers/kineto/reader.h"

#include <fmt/format.h>

namespace switchfold::validation {

namespace {

/// The workload that `run` creates from the folder's traces.
PreparedWorkload
prepare(const TraceFolder& folder, const FolderTrace& trace, const SystemParams& system) {
    Experiment experiment;
    experiment.name = folder.name;
    experiment.system.value = system;
    TraceWorkloadParams workload;
    workload.kernel_times = TracedTimes::kAsTraced;  // its own machine, as far as known
    for (const auto& file : trace.files)
        workload.files.push_back(std::filesystem::absolute(file).string());
    workload.ranks = trace.world;
    experiment.workload = workload;
    experiment.scenarios = {{"ring", true, ring_policy()}};
    return prepare_workload(complete_experiment(std::move(experiment), folder.path));
}

/// Traced and simulated operations, one rank per file.
std::vector<RankSpans>
spans_of(const TraceWorkload& traced, const PreparedWorkload& prepared, const Outcome& run) {
    std::vector<RankSpans> ranks;
    const bool stands_for_all = traced.files.size() == 1;
    for (std::size_t file = 0; file < traced.files.size(); ++file) {
        RankSpans rank;
        rank.graph = prepared.graph.ranks[file].get();
        SWITCHFOLD_CHECK(
            rank.graph->operations.size() == traced.measured[file].size(),
            "a run has other operations than its trace");
        for (const TraceWorkload::Measured& measured : traced.measured[file])
            rank.measured.push_back({measured.start, measured.end});
        if (stands_for_all)
            rank.simulated = run.times;
        else
            rank.simulated = {run.times[file]};
        ranks.push_back(std::move(rank));
    }
    return ranks;
}

/// Simulates a folder's traces on their machine. Throws ConfigError if that is impossible.
SuiteResult
compare(const TraceFolder& folder, const Machines& machines, const JobProgress& progress) {
    const FolderTrace trace = read_folder(folder);
    if (trace.world < 2)
        throw ConfigError(folder.path.string(), "", "is of one rank, which waits for nobody");
    const OverlapTrace pairs = read_overlap(trace.files);
    if (pairs.communication.empty())
        throw ConfigError(folder.path.string(), "", "holds no communication");
    const MachineMatch match = machines.find({trace.gpu_name, "", trace.world, std::nullopt});
    if (!match.machine)
        throw ConfigError(folder.path.string(), "", match.why);
    SystemParams system = match.machine->system;
    if (trace.nccl_version)
        system.collectives->nccl_version = *trace.nccl_version;
    const PreparedWorkload prepared = prepare(folder, trace, system);
    SimulateOptions options;
    options.progress = progress;
    const Outcome run = simulate(system, prepared.graph, ring_policy(), options);
    SuiteResult result;
    compare_step(trace.id, pairs, spans_of(read_kineto({trace.files}), prepared, run), result);
    result.notes.push_back(fmt::format(
        "{}: on {}, iteration {:.2f} ms, traced {:.2f} ms", trace.id, match.machine->name,
        to_microseconds(Time(run.end_ps)) / prepared.graph.steps * 1e-3,
        prepared.report.measured_iteration_us.value_or(0) * 1e-3));
    const auto fitted = [&](const std::string& name) { return machines.fitted_on(name); };
    for (Case& c : result.cases) {
        c.fitted = fitted(folder.name) ||
                   (folder.name.starts_with("hta_") && fitted(folder.name.substr(4)));
        if (c.quantity == "slowdown") {
            c.like = likeness_on(system, "overlap", trace.world);
            c.like.operation = "step";
            c.machine = system.name;
        }
    }
    return result;
}

}  // namespace

SuiteResult run_step(const SuiteOptions& options) {
    return run_folders(suite_named("step"), options, kKinetoFiles, compare);
}

}  // namespace switchfold::validation
