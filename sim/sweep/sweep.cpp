// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep.h"

#include "core/byte_codec.h"
#include "core/physical_memory.h"
#include "sim/pool/pool.h"
#include "sim/runner.h"
#include "sim/sweep/folder_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include <unistd.h>

namespace switchfold {

namespace {

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// Memory limit per worker: an equal part of the machine's memory, with some reserved.
std::uint64_t part_of_memory(unsigned jobs) {
    return physical_memory() / 10 * 9 / std::max(1U, jobs);
}

std::string run_point(
    const SweepPlan& plan, const SweepPoint& point, const std::string& host,
    const IntervalSource& intervals, const JobProgress& report) {
    const LoadedExperiment loaded = load_point(plan, point);
    RunOptions options;
    options.in_process = true;
    options.intervals = intervals;
    // Where something is trained, that takes most of the time.
    const WorkPhase longest =
        loaded.experiment.learning ? WorkPhase::kLearning : WorkPhase::kSimulating;
    options.progress = [&](const WorkerProgress& p) {
        if (p.phase == longest)
            report(p.share, p.events);
    };
    RunRecord record = record_of(run_experiment(loaded, options));
    record.digest = point.digest;
    record.machine = loaded.experiment.system->name;
    record.host.name = host;
    return value_bytes(record);
}

RunRecord failed_run(const SweepPoint& point, const JobResult& result, const std::string& host) {
    RunRecord record;
    record.digest = point.digest;
    record.exit_code = static_cast<int>(result.code);
    record.error = result.error;
    record.host.name = host;
    return record;
}

}  // namespace

std::vector<const SweepPoint*> missing_points(
    const SweepPlan& plan, const std::set<std::string>& done, const SweepOptions& options) {
    std::vector<const SweepPoint*> missing;
    std::set<std::string> seen = done;
    for (const SweepPoint& point : plan.points)
        if ((!options.only || options.only->contains(point.digest)) &&
            seen.insert(point.digest).second)
            missing.push_back(&point);
    return missing;
}

SweepSummary summarise(SweepDatabase& database, const SweepOptions& options, std::uint64_t ran) {
    database.flush();
    SweepSummary summary;
    summary.count = database.count();
    // Who runs none of its points only prepares the folder: a table with empty rows would look like
    // that of a sweep that has ended.
    const bool prepares = options.only && ran == 0 &&
                          summary.count.done + summary.count.failed < summary.count.points;
    if (!prepares)
        database.write_csv(options.out / "results.csv");
    summary.ran = ran;
    constexpr std::size_t kMostFailures = 10;
    summary.failures = database.failures(kMostFailures);
    return summary;
}

SweepSummary run_sweep(const SweepPlan& plan, const SweepOptions& options) {
    const FolderLock lock(options.out);
    SweepDatabase database(options.out / kDatabaseName, plan);
    const std::set<std::string> done = database.done();
    const std::vector<const SweepPoint*> missing = missing_points(plan, done, options);
    if (options.log)
        options.log(fmt::format(
            "{} points, {} experiments to run, {} at a time", plan.points.size(), missing.size(),
            options.jobs));
    const std::string host = host_name();
    std::vector<Job> jobs;
    for (const SweepPoint* point : missing)
        jobs.push_back({point->digest, [&plan, &options, point, &host](const JobProgress& report) {
                            return run_point(plan, *point, host, options.intervals, report);
                        }});
    SweepProgress told;
    told.runs = missing.size();
    const auto progress = [&](const WorkerProgress& p) {
        database.tick();
        told.ended = p.share * static_cast<double>(told.runs);
        told.elapsed_s = p.elapsed_s;
        if (options.progress)
            options.progress(told);
    };
    PoolOptions pool{options.jobs, true, options.worker_bytes};
    if (pool.most_bytes == 0)
        pool.most_bytes = part_of_memory(options.jobs);
    run_jobs(jobs, pool, progress, [&](std::size_t job, const JobResult& result) {
        const bool whole = result.code == ExitCode::kDone;
        told.failed += whole ? 0 : 1;
        database.record(
            whole ? value_of_bytes<RunRecord>(result.bytes)
                  : failed_run(*missing[job], result, host));
    });
    SweepSummary summary = summarise(database, options, missing.size());
    summary.kept = done.size();
    return summary;
}

}  // namespace switchfold
