// SPDX-License-Identifier: Apache-2.0
#include "sim/core/json.h"
#include "sim/run/machine/graph_run.h"
#include "sim/run/pool/pool.h"
#include "sim/run/workload/workload.h"
#include "validation/harness/data.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"
#include "validation/replay/trace_folders.h"

#include <fmt/format.h>

#include <cmath>

namespace switchfold::validation {

namespace {

/// A trace's own schedule comes out this near, of its iteration time.
constexpr double kTolerance = 0.02;

/// What a job sends home.
struct Replayed {
    std::string id;
    std::string how;
    double measured_us = 0;
    double simulated_us = 0;
};

/// Reads a folder's traces, finds the machine, and runs the schedule as it was traced.
Replayed replay(const TraceFolder& folder, const Machines& machines, const JobProgress& progress) {
    const FolderTrace trace = read_folder(folder);
    const WantedMachine wanted{trace.gpu_name, "", trace.world, std::nullopt};
    const MachineMatch match = machines.find(wanted);
    if (!match.machine)
        throw ConfigError(folder.path.string(), "", match.why);
    Experiment experiment;
    experiment.name = folder.name;
    experiment.system.value = match.machine->system;
    TraceWorkloadParams workload;
    for (const auto& file : trace.files)
        workload.files.push_back(std::filesystem::absolute(file).string());
    workload.ranks = trace.world;
    experiment.workload = workload;
    experiment.scenarios = {{"as traced", true, AllReducePolicy{}}};
    const PreparedWorkload prepared =
        prepare_workload(complete_experiment(std::move(experiment), folder.path));
    const auto measured = prepared.report.measured_iteration_us;
    if (!measured || *measured <= 0)
        throw ConfigError(
            folder.path.string(), "", "says nothing about how long an iteration took");
    GraphRunOptions options;
    options.progress = progress;
    const GraphRun run =
        run_graph(match.machine->system, prepared.graph, AllReducePolicy{}, options);
    return {
        trace.id,
        fmt::format("{}, {} ranks", match.machine->name, trace.world),
        *measured,
        to_microseconds(run.end) / prepared.graph.steps};
}

Job job_of(const TraceFolder& folder, const Machines& machines) {
    return {folder.name, [&](const JobProgress& progress) {
                const Replayed done = replay(folder, machines, progress);
                return OrderedJson{done.id, done.how, done.measured_us, done.simulated_us}.dump();
            }};
}

Case case_of(const TraceFolder& folder, const std::string& bytes) {
    const OrderedJson done = OrderedJson::parse(bytes);
    Case c;
    c.id = done[0].get<std::string>();
    c.group = folder.name;
    c.quantity = "iteration time";
    c.unit = "us";
    c.how = done[1].get<std::string>();
    c.measured = done[2].get<double>();
    c.simulated = done[3].get<double>();
    return c;
}

}  // namespace

SuiteResult run_replay(const SuiteOptions& options) {
    const Suite& suite = suite_named("replay");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    const std::vector<TraceFolder> folders = trace_folders(*data);
    if (folders.empty())
        throw ConfigError(
            data->string(),
            "",
            "holds no trace; expected folders of Kineto traces (.json, .json.gz)");
    const Machines machines(options.root);
    std::vector<Job> jobs;
    for (const TraceFolder& folder : folders)
        jobs.push_back(job_of(folder, machines));
    std::vector<JobResult> results(jobs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, JobResult done) {
        // A trace that cannot be used is said so; a simulation that fails is an error of ours.
        if (done.code != ExitCode::kDone && done.code != ExitCode::kBadInput)
            rethrow(jobs[job], done);
        results[job] = std::move(done);
    });
    for (std::size_t i = 0; i < folders.size(); ++i) {
        if (results[i].code == ExitCode::kBadInput) {
            result.unmatched.push_back({folders[i].name, results[i].error});
            continue;
        }
        result.cases.push_back(case_of(folders[i], results[i].bytes));
        const Case& c = result.cases.back();
        result.verdicts.push_back({c.id, std::abs(c.error()), kTolerance});
    }
    return result;
}

}  // namespace switchfold::validation
