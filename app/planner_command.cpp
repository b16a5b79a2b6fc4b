// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/log.h"
#include "app/planner_report.h"
#include "app/progress.h"
#include "app/shipped_residuals.h"
#include "app/slurm_arguments.h"
#include "core/error.h"
#include "core/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace switchfold {

namespace {

struct PlannerArguments {
    std::string file;
    std::string out;
    std::string budget;
    std::vector<std::string> set;
    bool json = false;
    unsigned jobs = 0;
    SlurmArguments slurm;
};

/// One per core locally; on a cluster a task has one core unless more are requested.
/// With the command by which a task plans the same experiment.
SlurmOptions slurm_of(const PlannerArguments& arguments) {
    if (arguments.out.empty())
        throw ConfigError(
            "--executor", "", "slurm needs a folder that the nodes see; expected --out");
    SlurmOptions slurm = arguments.slurm.options();
    slurm.command = {"plan", std::filesystem::absolute(arguments.file).string()};
    for (const std::string& text : arguments.set)
        slurm.command.insert(slurm.command.end(), {"--set", text});
    return slurm;
}

/// Parses "200" (simulations) or "90 s".
PlannerBudget budget_of(const std::string& text) {
    PlannerBudget budget;
    if (text.empty())
        return budget;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) {
        budget.simulations = number;
        return budget;
    }
    try {
        budget.seconds = to_seconds(parse_time(text));
    } catch (const std::invalid_argument& problem) {
        throw ConfigError(
            "--budget", "",
            fmt::format(
                "is not a number of simulations, and as a time it {}; expected one such as 200 or "
                "\"90 s\"",
                problem.what()));
    }
    return budget;
}

int plan(const PlannerArguments& arguments, const Log& log) {
    if (arguments.file.empty())
        throw ConfigError("plan", "", "names no experiment; expected its file, or plan memory");
    std::vector<Override> overrides;
    for (const std::string& text : arguments.set)
        overrides.push_back(parse_override(text));
    PlannerOptions options;
    options.jobs = arguments.slurm.jobs(arguments.jobs);
    if (arguments.slurm.slurm())
        options.slurm = slurm_of(arguments);
    options.budget = budget_of(arguments.budget);
    options.intervals = shipped_residuals();
    if (!arguments.out.empty())
        options.out = arguments.out;
    log.step(fmt::format("reading {}", arguments.file));
    const LoadedExperiment loaded = load_experiment(arguments.file, overrides);
    if (const auto digests = arguments.slurm.only()) {
        if (!options.out)
            throw ConfigError("--points", "", "are kept in a folder; expected --out");
        simulate_plans(loaded, options, *digests);
        return static_cast<int>(ExitCode::kDone);
    }
    PlannerResult result;
    {
        ProgressLine line(log.quiet());
        options.log = [&](const std::string& text) {
            line.clear();
            log.step(text);
        };
        options.progress = [&](const PlannerProgress& progress) { line.show(progress); };
        result = search_plans(loaded, options);
    }
    const std::string text =
        arguments.json ? planner_json(loaded, result) : planner_text(loaded, result);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!arguments.json && options.out)
        fmt::print("\nplan: {}\n", (*options.out / "plan.json").string());
    return static_cast<int>(ExitCode::kDone);
}

}  // namespace

void add_planner(CLI::App& command, Chosen& chosen, const Log& log) {
    auto arguments = std::make_shared<PlannerArguments>();
    command.add_option(
        "EXPERIMENT", arguments->file, "Experiment with a planner (JSON); -: standard input");
    command.add_option(
        "--out", arguments->out,
        "Folder for plan.json, plans.csv, sweep.db; a search in the same folder resumes");
    command.add_option(
        "--budget", arguments->budget,
        "Limit after which no simulation starts: a number of simulations, such as 200, or a time, "
        "such as \"90 s\"");
    command
        .add_option(
            "--set", arguments->set, "Replace a value: /json/pointer=VALUE; may be repeated")
        ->allow_extra_args(false);
    command.add_flag("--json", arguments->json, "Print JSON");
    command
        .add_option(
            "--jobs", arguments->jobs,
            "Simulations that run at the same time (with slurm: in a task)")
        ->check(CLI::Range(1U, 1024U));
    arguments->slurm.add_to(command);
    command.callback([&command, arguments, &chosen, &log] {
        // Subcommands set their own action.
        if (command.get_subcommands().empty())
            chosen = [arguments, &log] { return plan(*arguments, log); };
    });
}

}  // namespace switchfold
