// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"
#include "sim/app/log.h"
#include "sim/app/progress.h"
#include "sim/core/error.h"
#include "sim/core/units.h"
#include "sim/run/sweep/slurm.h"
#include "sim/run/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

namespace switchfold {

namespace {

struct Arguments {
    std::string file;
    std::string out;
    std::string memory;
    std::string points;
    std::string executor = "local";
    unsigned jobs = 0;
    unsigned tasks = SlurmOptions{}.tasks;
    std::vector<std::string> sbatch;
    std::string prologue;
};

/// A core each here; on a cluster a task has one core unless more are asked for.
unsigned jobs_of(const Arguments& arguments) {
    if (arguments.jobs > 0)
        return arguments.jobs;
    return arguments.executor == "slurm" ? 1 : std::max(1U, std::thread::hardware_concurrency());
}

/// The digests of a task's share, a line each.
std::optional<std::set<std::string>> read_points(const std::string& file) {
    if (file.empty())
        return std::nullopt;
    std::ifstream lines(file);
    std::set<std::string> digests;
    for (std::string line; std::getline(lines, line);)
        digests.insert(line);
    if (digests.empty())
        throw ConfigError(file, "", "names no points; expected a digest a line");
    return digests;
}

SlurmOptions slurm_of(const Arguments& arguments) {
    SlurmOptions slurm;
    slurm.tasks = arguments.tasks;
    slurm.prologue = arguments.prologue;
    for (const std::string& argument : arguments.sbatch)
        slurm.arguments.push_back(argument);
    std::error_code error;
    slurm.program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        throw IoError("/proc/self/exe", error.value(), "find this program");
    if (!slurm.prologue.empty() && !std::filesystem::exists(slurm.prologue))
        throw ConfigError("--prologue", "", "names " + arguments.prologue + ", which is not there");
    return slurm;
}

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

int sweep(const Arguments& arguments, const Log& log) {
    SweepOptions options;
    options.out = arguments.out;
    options.jobs = jobs_of(arguments);
    options.only = read_points(arguments.points);
    options.worker_bytes = bytes_of(arguments.memory);
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
        summary = arguments.executor == "slurm"
                      ? run_sweep_by_slurm(plan, options, slurm_of(arguments))
                      : run_sweep(plan, options);
    }
    const SweepCount& count = summary.count;
    fmt::print(
        "{}: {} points, {} done, {} failed; {} experiments ran now\nresults: {}\n",
        plan.name,
        count.points,
        count.done,
        count.failed,
        summary.ran,
        (options.out / kDatabaseName).string());
    print_failures(summary);
    const bool whole = options.only ? count.failed == 0 : count.done == count.points;
    return static_cast<int>(whole ? ExitCode::kDone : ExitCode::kUnfinished);
}

}  // namespace

void add_sweep(CLI::App& app, Chosen& chosen, const Log& log) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "sweep",
        "Run an experiment for many values of its parameters. Run it again to go on where it was "
        "stopped.\n\nExample:\n"
        "  switchfold sweep configs/sweeps/all_reduce_sizes.json --out runs/sizes");
    command->add_option("SWEEP", arguments->file, "Sweep (JSON)")->required();
    command->add_option("--out", arguments->out, "Folder for sweep.db and results.csv")->required();
    command
        ->add_option(
            "--jobs",
            arguments->jobs,
            "Experiments that run at the same time (with slurm: in a task)")
        ->check(CLI::Range(1U, 1024U));
    command
        ->add_option(
            "--executor",
            arguments->executor,
            "local: processes of this machine; slurm: job arrays of a cluster")
        ->check(CLI::IsMember({"local", "slurm"}));
    command->add_option("--tasks", arguments->tasks, "slurm: tasks that share the points")
        ->check(CLI::Range(1U, 1000U));
    command
        ->add_option(
            "--sbatch", arguments->sbatch, "slurm: an argument of sbatch, such as --time=60")
        ->allow_extra_args(false);
    command->add_option(
        "--prologue", arguments->prologue, "slurm: shell file that a task reads first (modules)");
    command->add_option(
        "--points", arguments->points, "File with the digests of the only points to run");
    command->add_option(
        "--memory",
        arguments->memory,
        "Most memory of one experiment, such as \"4 GiB\"; without: its part of the machine's");
    command->callback([arguments, &chosen, &log] {
        chosen = [arguments, &log] { return sweep(*arguments, log); };
    });
}

}  // namespace switchfold
