// SPDX-License-Identifier: Apache-2.0
#include "sim/core/json.h"
#include "sim/run/pool/pool.h"
#include "sim/run/workload/workload.h"
#include "validation/harness/data.h"
#include "validation/machines/machines.h"
#include "validation/replay/step_comparison.h"
#include "validation/replay/trace_folders.h"
#include "workloads/readers/kineto/reader.h"

#include <fmt/format.h>

#include <cmath>

namespace switchfold::validation {

namespace {

/// Beyond the measurement's interval.
constexpr double kTolerance = 0.15;

/// The workload as `run` makes it of the folder's traces.
PreparedWorkload
prepare(const TraceFolder& folder, const FolderTrace& trace, const SystemParams& system) {
    Experiment experiment;
    experiment.name = folder.name;
    experiment.system.value = system;
    TraceWorkloadParams workload;
    for (const auto& file : trace.files)
        workload.files.push_back(std::filesystem::absolute(file).string());
    workload.ranks = trace.world;
    experiment.workload = workload;
    experiment.scenarios = {{"ring", true, {Algorithm::kRing, Protocol::kAuto, 0, false}}};
    return prepare_workload(complete_experiment(std::move(experiment), folder.path));
}

/// What was traced and what was simulated, a rank a file.
std::vector<RankSpans>
spans_of(const TraceWorkload& traced, const PreparedWorkload& prepared, const GraphRun& run) {
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

/// Runs a folder's traces on their machine. Throws ConfigError if they cannot be.
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
    const SystemParams& system = match.machine->system;
    const PreparedWorkload prepared = prepare(folder, trace, system);
    GraphRunOptions options;
    options.progress = progress;
    const GraphRun run =
        run_graph(system, prepared.graph, {Algorithm::kRing, Protocol::kAuto, 0, false}, options);
    SuiteResult result;
    compare_step(trace.id, pairs, spans_of(read_kineto({trace.files}), prepared, run), result);
    result.notes.push_back(fmt::format(
        "{}: on {}, iteration {:.2f} ms, traced {:.2f} ms",
        trace.id,
        match.machine->name,
        to_microseconds(run.end) / prepared.graph.steps * 1e-3,
        prepared.report.measured_iteration_us.value_or(0) * 1e-3));
    const auto fitted = [&](const std::string& name) { return machines.fitted_on(name); };
    for (Case& c : result.cases)
        c.fitted = fitted(folder.name) ||
                   (folder.name.starts_with("hta_") && fitted(folder.name.substr(4)));
    return result;
}

OrderedJson optional_json(const std::optional<double>& value) {
    return value ? OrderedJson(*value) : OrderedJson();
}

std::string to_bytes(const SuiteResult& result) {
    OrderedJson cases = OrderedJson::array();
    for (const Case& c : result.cases)
        cases.push_back(
            {c.id,
             c.group,
             c.quantity,
             c.unit,
             c.measured,
             optional_json(c.low),
             optional_json(c.high),
             c.simulated,
             c.fitted,
             c.how});
    OrderedJson unmatched = OrderedJson::array();
    for (const Unmatched& u : result.unmatched)
        unmatched.push_back({u.id, u.why});
    return OrderedJson{{"cases", cases}, {"unmatched", unmatched}, {"notes", result.notes}}.dump();
}

void add_bytes(const std::string& bytes, SuiteResult& suite) {
    const OrderedJson json = OrderedJson::parse(bytes);
    const auto optional_of = [](const OrderedJson& value) {
        return value.is_null() ? std::nullopt : std::optional(value.get<double>());
    };
    for (const OrderedJson& c : json["cases"])
        suite.cases.push_back(
            {c[0], c[1], c[2], c[3], c[4], optional_of(c[5]), optional_of(c[6]), c[7], c[8], c[9]});
    for (const OrderedJson& u : json["unmatched"])
        suite.unmatched.push_back({u[0], u[1]});
    for (const OrderedJson& note : json["notes"])
        suite.notes.push_back(note);
}

/// Relative error beyond the measurement's interval; 0 within.
double beyond(const Case& c) {
    const bool within = c.low && c.high && c.simulated >= *c.low && c.simulated <= *c.high;
    return within ? 0 : std::abs(c.error());
}

}  // namespace

SuiteResult run_step(const SuiteOptions& options) {
    SuiteResult suite;
    suite.name = "step";
    const Suite& asked = suite_named(suite.name);
    const auto data = data_of(asked, options);
    if (!data)
        return skipped(asked);
    const std::vector<TraceFolder> folders = trace_folders(*data);
    if (folders.empty())
        throw ConfigError(
            data->string(),
            "",
            "holds no trace; expected folders of Kineto traces (.json, .json.gz)");
    const Machines machines(options.root);
    std::vector<Job> jobs;
    for (const TraceFolder& folder : folders)
        jobs.push_back({folder.name, [&folder, &machines](const JobProgress& progress) {
                            return to_bytes(compare(folder, machines, progress));
                        }});
    std::vector<JobResult> results(jobs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, JobResult done) {
        // A trace that cannot be used is said so; a simulation that fails is an error of ours.
        if (done.code != ExitCode::kDone && done.code != ExitCode::kBadInput)
            rethrow(jobs[job], done);
        results[job] = std::move(done);
    });
    for (std::size_t i = 0; i < folders.size(); ++i) {
        if (results[i].code == ExitCode::kBadInput)
            suite.unmatched.push_back({folders[i].name, results[i].error});
        else
            add_bytes(results[i].bytes, suite);
    }
    for (const Case& c : suite.cases)
        suite.verdicts.push_back({c.id + ": error beyond the interval", beyond(c), kTolerance});
    return suite;
}

}  // namespace switchfold::validation
