// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/trace_params.h"
#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/workload/workload.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"
#include "validation/replay/trace_folders.h"

#include <fmt/format.h>

#include <cmath>

namespace switchfold::validation {

namespace {

/// Tolerance for a trace's own schedule, relative to its iteration time.
/// Reads a folder's traces, finds the machine, and simulates the traced schedule.
SuiteResult
replay(const TraceFolder& folder, const Machines& machines, const JobProgress& progress) {
    const FolderTrace trace = read_folder(folder);
    const WantedMachine wanted{trace.gpu_name, "", trace.world, std::nullopt};
    const MachineMatch match = machines.find(wanted);
    if (!match.machine)
        throw ConfigError(folder.path.string(), "", match.why);
    SystemParams system = match.machine->system;
    if (trace.nccl_version)
        system.collectives->nccl_version = *trace.nccl_version;
    Experiment experiment;
    experiment.name = folder.name;
    experiment.system.value = system;
    TraceWorkloadParams workload;
    workload.kernel_times = TracedTimes::kAsTraced;  // its own machine, as far as known
    for (const auto& file : trace.files)
        workload.files.push_back(std::filesystem::absolute(file).string());
    workload.ranks = trace.world;
    experiment.workload = workload;
    experiment.scenarios = {{"as traced", true, CollectivePolicy{}}};
    const PreparedWorkload prepared =
        prepare_workload(complete_experiment(std::move(experiment), folder.path));
    const auto measured = prepared.report.measured_iteration_us;
    if (!measured || *measured <= 0)
        throw ConfigError(
            folder.path.string(), "", "says nothing about how long an iteration took");
    SimulateOptions options;
    options.progress = progress;
    const Outcome run = simulate(system, prepared.graph, CollectivePolicy{}, options);
    Case c;
    c.id = trace.id;
    c.group = folder.name;
    c.quantity = "iteration time";
    c.unit = "us";
    c.how = fmt::format("{}, {} ranks", match.machine->name, trace.world);
    c.like = likeness_on(system, "step", trace.world);
    c.like.operation = "replayed";
    c.machine = system.name;
    c.measured = *measured;
    c.simulated = to_microseconds(Time(run.end_ps)) / prepared.graph.steps;
    SuiteResult result;
    result.cases.push_back(std::move(c));
    return result;
}

}  // namespace

SuiteResult run_replay(const SuiteOptions& options) {
    return run_folders(suite_named("replay"), options, kTraceFiles, replay);
}

}  // namespace switchfold::validation
