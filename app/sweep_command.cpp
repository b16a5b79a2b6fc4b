// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/log.h"
#include "app/progress.h"
#include "app/shipped_residuals.h"
#include "app/slurm_arguments.h"
#include "core/error.h"
#include "core/units.h"
#include "sim/sweep/slurm.h"
#include "sim/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace switchfold {

namespace {

struct SweepArguments {
    std::string file;
    std::string out;
    std::string memory;
    unsigned jobs = 0;
    SlurmArguments slurm;
};

/// One per core locally; on a cluster a task has one core unless more are requested.
std::uint64_t bytes_of(const std::string& text) {
    if (text.empty())
        return 0;
    try {
        return parse_bytes(text).count();
    } catch (const std::invalid_argument& error) {
        throw ConfigError("--memory", "", error.what());
    }
}

void print_failures(const SweepSummary& summary) {
    for (const auto& [point, error] : summary.failures)
        fmt::print(stderr, "failed: {}: {}\n", point, error);
    if (summary.count.failed > summary.failures.size())
        fmt::print(stderr, "failed: {} more\n", summary.count.failed - summary.failures.size());
}

int run_sweep(const SweepArguments& arguments, const Log& log) {
    SweepOptions options;
    options.out = arguments.out;
    options.jobs = arguments.slurm.jobs(arguments.jobs);
    options.only = arguments.slurm.only();
    options.worker_bytes = bytes_of(arguments.memory);
    options.intervals = shipped_residuals();
    log.step(fmt::format("reading {}", arguments.file));
    const SweepPlan plan = plan_sweep(arguments.file);
    SweepSummary summary;
    {
        ProgressLine line(log.quiet());
        options.log = [&](const std::string& text) {
            line.clear();
            log.step(text);
        };
        options.progress = [&](const SweepProgress& progress) { line.show(progress); };
        summary = arguments.slurm.slurm()
                      ? run_sweep_by_slurm(plan, options, arguments.slurm.options())
                      : run_sweep(plan, options);
    }
    const SweepCount& count = summary.count;
    fmt::print(
        "{}: {} points, {} done, {} failed; {} experiments ran now\nresults: {}\n", plan.name,
        count.points, count.done, count.failed, summary.ran,
        (options.out / kDatabaseName).string());
    print_failures(summary);
    const bool whole = options.only ? count.failed == 0 : count.done == count.points;
    return static_cast<int>(whole ? ExitCode::kDone : ExitCode::kUnfinished);
}

}  // namespace

void add_sweep(CLI::App& app, Chosen& chosen, const Log& log) {
    auto arguments = std::make_shared<SweepArguments>();
    CLI::App* command = app.add_subcommand(
        "sweep", "Run an experiment for many values of its parameters. The same command resumes a "
                 "stopped sweep.\n\nExample:\n"
                 "  switchfold sweep configs/sweeps/all_reduce_sizes.json --out runs/sizes");
    command->add_option("SWEEP", arguments->file, "Sweep (JSON); -: standard input")->required();
    command->add_option("--out", arguments->out, "Folder for sweep.db and results.csv")->required();
    command
        ->add_option(
            "--jobs", arguments->jobs,
            "Experiments that run at the same time (with slurm: in a task)")
        ->check(CLI::Range(1U, 1024U));
    arguments->slurm.add_to(*command);
    command->add_option(
        "--memory", arguments->memory,
        "Limit on the memory of one experiment, such as \"4 GiB\". Default: its share of the "
        "machine's");
    command->callback([arguments, &chosen, &log] {
        chosen = [arguments, &log] { return run_sweep(*arguments, log); };
    });
}

}  // namespace switchfold
