// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/machine/likeness.h"
#include "validation/replay/step_comparison.h"
#include "validation/replay/trace_folders.h"
#include "workloads/readers/kineto/reader.h"

#include <fmt/format.h>

namespace switchfold::validation {

namespace {

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
SuiteResult compare_operations(
    const TraceFolder& folder, const Machines& machines, const JobProgress& progress) {
    const FolderTrace trace = read_folder(folder);
    if (trace.world < 2)
        throw ConfigError(folder.path.string(), "", "is of one rank, which waits for nobody");
    const OverlapTrace pairs = read_overlap(trace.files);
    if (pairs.communication.empty())
        throw ConfigError(folder.path.string(), "", "holds no communication");
    const ReplayedFolder replayed = replay_folder(folder, trace, machines, ring_policy(), progress);
    SuiteResult result;
    compare_step(
        trace.id, pairs, spans_of(read_kineto({trace.files}), replayed.prepared, replayed.run),
        result);
    result.notes.push_back(fmt::format(
        "{}: on {}, iteration {:.2f} ms, traced {:.2f} ms", trace.id, replayed.system.name,
        replayed.iteration_us() * 1e-3,
        replayed.prepared.report.measured_iteration_us.value_or(0) * 1e-3));
    const auto fitted = [&](const std::string& name) { return machines.fitted_on(name); };
    for (Case& c : result.cases) {
        c.fitted = fitted(folder.name) ||
                   (folder.name.starts_with("hta_") && fitted(folder.name.substr(4)));
        if (c.quantity == "slowdown") {
            c.like = likeness_on(replayed.system, "overlap", trace.world);
            c.like.operation = "step";
            c.machine = replayed.system.name;
        }
    }
    return result;
}

}  // namespace

SuiteResult run_step(const SuiteOptions& options) {
    return run_folders(suite_named("step"), options, kKinetoFiles, compare_operations);
}

}  // namespace switchfold::validation
