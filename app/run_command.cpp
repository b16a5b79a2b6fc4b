// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/log.h"
#include "app/progress.h"
#include "app/shipped_residuals.h"
#include "sim/long_run.h"
#include "sim/output/writers.h"
#include "sim/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

namespace switchfold {

namespace {

struct RunArguments {
    std::string file;
    std::string out;
    std::vector<std::string> set;
    bool json = false;
    bool timeline = false;
    bool rank_timelines = false;
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

int run_one(const RunArguments& arguments, const Log& log) {
    std::vector<Override> overrides;
    for (const std::string& text : arguments.set)
        overrides.push_back(parse_override(text));
    log.step(fmt::format("reading {}", arguments.file));
    const LoadedExperiment loaded = load_experiment(arguments.file, overrides);
    RunOptions options;
    options.jobs = arguments.jobs;
    options.timeline = arguments.timeline;
    options.rank_timelines = arguments.rank_timelines;
    options.intervals = shipped_residuals();
    if (!arguments.out.empty())
        options.out = arguments.out;
    for (const auto& [name, given] :
         {std::pair{"--timeline", arguments.timeline},
          {"--rank-timelines", arguments.rank_timelines}})
        if (given && arguments.out.empty())
            throw ConfigError(name, "", "needs a folder to write to; expected --out DIR");
    ExperimentResult result;
    {
        ProgressLine line(log.quiet());
        options.log = [&](const std::string& text) {
            line.clear();
            log.step(text);
        };
        LongRunNotice notice(loaded.experiment);
        options.progress = [&](const WorkerProgress& progress) {
            if (const auto said = notice.of(progress); said && !log.quiet()) {
                line.clear();
                fmt::print(stderr, "note: {}\n", *said);
            }
            line.show(progress);
        };
        result = run_experiment(loaded, options);
    }
    const std::string text = arguments.json ? to_result_json(result) : to_table(result);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!arguments.json && options.out)
        fmt::print("\nresults: {}\n", (*options.out / "result.json").string());
    return static_cast<int>(ExitCode::kDone);
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen, const Log& log) {
    auto arguments = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand(
        "run",
        "Run an experiment's scenarios and print their times, slowdowns and causes.\n\nExample:\n"
        "  switchfold run configs/experiments/example.json --set /workload/ranks=4 --out runs/four "
        "--timeline");
    command->add_option("EXPERIMENT", arguments->file, "Experiment (JSON); -: standard input")
        ->required();
    command->add_option(
        "--out", arguments->out, "Folder for result.json, kernels.csv, effective-config.json");
    command
        ->add_option(
            "--set", arguments->set, "Replace a value: /json/pointer=VALUE; may be repeated")
        ->allow_extra_args(false);
    command->add_flag("--json", arguments->json, "Print result.json instead of the table");
    command->add_flag("--timeline", arguments->timeline, "Write timeline.json.gz for Perfetto too");
    command->add_flag(
        "--rank-timelines", arguments->rank_timelines,
        "Write rank-timelines/SCENARIO/rank0.json.gz ... for Holistic Trace Analysis too");
    command->add_option("--jobs", arguments->jobs, "Scenarios that run at the same time")
        ->check(CLI::Range(1U, 1024U));
    command->callback([arguments, &chosen, &log] {
        chosen = [arguments, &log] { return run_one(*arguments, log); };
    });
}

}  // namespace switchfold
