// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/log.h"
#include "app/named_system.h"
#include "app/progress.h"
#include "core/error.h"
#include "sim/output/replaced_file.h"
#include "sim/uncertainty/own_residuals.h"
#include "validation/calibrate/calibrate.h"
#include "validation/harness/root.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace switchfold {

namespace {

struct CalibrateArguments {
    std::string system;
    std::vector<std::string> data;
    std::vector<std::string> tables;
    std::vector<std::string> traces;
    std::string out;
    std::string points_out;
    std::string largest = "256 MiB";
    std::size_t points = 128;
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

/// Progress over all evaluations, of whose total an estimate is known.
class CalibrationClock {
public:
    explicit CalibrationClock(bool quiet) : quiet_(quiet), line_(quiet) {}

    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }
    void planned(const validation::CalibrationPlan& plan) {
        expected_s_ = seconds() + plan.seconds;
        line_.clear();
        if (!quiet_)
            fmt::print(
                stderr, "{} knobs, {} points to fit, {} to check: about {:.0f} s\n", plan.knobs,
                plan.fitted, plan.left_out, expected_s_);
    }
    void show(const WorkerProgress& of_evaluation) {
        WorkerProgress all = of_evaluation;
        all.elapsed_s = seconds();
        // Steps that gain nothing are tried again, so the estimate may be passed.
        constexpr double kNearlyAll = 0.99;
        all.share = expected_s_ > 0 ? std::min(kNearlyAll, all.elapsed_s / expected_s_) : 0.0;
        line_.show(all);
    }

private:
    bool quiet_;
    ProgressLine line_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    double expected_s_ = 0;
};

validation::CalibrationData calibration_data(const CalibrateArguments& arguments) {
    validation::CalibrationData data;
    data.system = named_system(arguments.system);
    data.root = validation::find_root({});
    data.files.assign(arguments.data.begin(), arguments.data.end());
    data.tables = arguments.tables;
    data.traces.assign(arguments.traces.begin(), arguments.traces.end());
    data.most = arguments.points;
    try {
        data.largest = parse_bytes(arguments.largest).count();
    } catch (const std::invalid_argument& wrong) {
        throw ConfigError("--largest", "", wrong.what());
    }
    if (data.files.empty() && data.traces.empty())
        throw ConfigError(
            "switchfold calibrate", "", "has no measurements; expected --data or --trace");
    return data;
}

int calibrate_system(const CalibrateArguments& arguments, const Log& log) {
    const validation::CalibrationData data = calibration_data(arguments);
    CalibrationClock clock(log.quiet());
    validation::CalibrationOptions options;
    options.run = [&](std::span<const Job> jobs, const JobEnded& ended) {
        run_jobs(
            jobs, arguments.jobs, [&](const WorkerProgress& progress) { clock.show(progress); },
            ended);
    };
    options.seconds = [&] { return clock.seconds(); };
    options.planned = [&](const validation::CalibrationPlan& plan) { clock.planned(plan); };
    const validation::Calibration done = validation::calibrate(data, options);
    std::string text = validation::to_text(done);
    if (done.verdict == validation::CalibrationVerdict::kBetter) {
        replace_file(arguments.out, validation::overlay_text(done, data, arguments.out));
        const std::string residuals = own_residuals_file(arguments.out).string();
        replace_file(residuals, validation::own_residuals_text(done, data));
        text += fmt::format("\nwritten: {}, and {} for intervals\n", arguments.out, residuals);
    }
    if (!arguments.points_out.empty())
        replace_file(arguments.points_out, validation::points_text(done));
    std::fwrite(text.data(), 1, text.size(), stdout);
    return static_cast<int>(
        done.verdict == validation::CalibrationVerdict::kUnexplained ? ExitCode::kOutOfTolerance
                                                                     : ExitCode::kDone);
}

}  // namespace

void add_calibrate(CLI::App& app, Chosen& chosen, const Log& log) {
    auto arguments = std::make_shared<CalibrateArguments>();
    CLI::App* command = app.add_subcommand(
        "calibrate",
        "Fit a few parameters of a system to your own measurements of it, and write the "
        "differences as a system that stands on it. Every second size is left out to check the "
        "fit; if it makes those worse, nothing is written and the exit code is 1.\n\n"
        "Example:\n  switchfold calibrate hgx_h100 --data all_reduce.txt all_gather.txt --out "
        "my_h100.json");
    command->add_option("SYSTEM", arguments->system, "A system: its file, or its name")->required();
    command->add_option(
        "--data", arguments->data,
        "Logs of nccl-tests, and tables (CSV) of collectives, kernels or copies");
    command->add_option(
        "--table", arguments->tables,
        "Names of tables in CSV files of collectives, a star for any text. Without it, the rows "
        "whose columns describe this system");
    command->add_option(
        "--trace", arguments->traces, "Traces: their matrix products and copies are used");
    command
        ->add_option(
            "--out", arguments->out,
            "The system to write; FILE.residuals.csv beside it holds the errors of points left "
            "out, for intervals")
        ->required();
    command->add_option(
        "--points-out", arguments->points_out,
        "A CSV file of all points: measured, and simulated before and after");
    command->add_option(
        "--largest", arguments->largest, "Largest size of collectives that is used");
    command->add_option("--points", arguments->points, "About how many points to fit")
        ->check(CLI::Range(std::size_t{4}, std::size_t{10'000}));
    command->add_option("--jobs", arguments->jobs, "Simulations that run at the same time")
        ->check(CLI::Range(1U, 1024U));
    command->callback([arguments, &chosen, &log] {
        chosen = [arguments, &log] { return calibrate_system(*arguments, log); };
    });
}

}  // namespace switchfold
