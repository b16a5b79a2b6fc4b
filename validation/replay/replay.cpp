// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/machine/likeness.h"
#include "validation/replay/trace_folders.h"

#include <fmt/format.h>

namespace switchfold::validation {

namespace {

SuiteResult compare_iteration(
    const TraceFolder& folder, const Machines& machines, const JobProgress& progress) {
    const FolderTrace trace = read_folder(folder);
    const ReplayedFolder replayed = replay_folder(folder, trace, machines, {}, progress);
    const auto measured = replayed.prepared.report.measured_iteration_us;
    if (!measured || *measured <= 0)
        throw ConfigError(
            folder.path.string(), "", "says nothing about how long an iteration took");
    Case c;
    c.id = trace.id;
    c.group = folder.name;
    c.quantity = "iteration time";
    c.unit = "us";
    c.how = fmt::format("{}, {} ranks", replayed.system.name, trace.world);
    c.like = likeness_on(replayed.system, "step", trace.world);
    c.like.operation = "replayed";
    c.machine = replayed.system.name;
    c.measured = *measured;
    c.simulated = replayed.iteration_us();
    SuiteResult result;
    result.cases.push_back(std::move(c));
    return result;
}

}  // namespace

SuiteResult run_replay(const SuiteOptions& options) {
    return run_folders(suite_named("replay"), options, kTraceFiles, compare_iteration);
}

}  // namespace switchfold::validation
