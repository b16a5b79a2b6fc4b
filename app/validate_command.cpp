// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/log.h"
#include "app/named_system.h"
#include "app/progress.h"
#include "app/shipped_residuals.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text_cells.h"
#include "sim/intervals/coverage.h"
#include "validation/collectives/nccl_logs.h"
#include "validation/harness/data.h"
#include "validation/harness/judging.h"
#include "validation/harness/kept_suites.h"
#include "validation/harness/root.h"
#include "validation/harness/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace switchfold {

namespace {

struct ValidateArguments {
    std::vector<std::string> suites;
    std::string data;
    std::string system;
    std::string root;
    std::string map;
    std::string cache;
    std::optional<std::uint32_t> row_seconds;
    bool no_cache = false;
    bool json = false;
    bool coverage = false;
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

/// The requested suites in the order of the list; all if none is named.
std::vector<const validation::Suite*> chosen_suites(const ValidateArguments& arguments) {
    std::vector<std::string_view> known;
    for (const validation::Suite& suite : validation::suites())
        known.push_back(suite.name);
    for (const std::string& name : arguments.suites)
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw ConfigError(
                "switchfold validate", "",
                fmt::format(
                    "unknown suite \"{}\"{}; expected some of: {}", name, did_you_mean(name, known),
                    fmt::join(known, ", ")));
        }
    std::vector<const validation::Suite*> chosen;
    for (const validation::Suite& suite : validation::suites())
        if (arguments.suites.empty() ||
            std::find(arguments.suites.begin(), arguments.suites.end(), suite.name) !=
                arguments.suites.end())
            chosen.push_back(&suite);
    return chosen;
}

/// Whose own tables a user brings.
constexpr const char* kTables = "experiments";

/// A single file without a suite: a log of nccl-tests, or a table that says what its columns are.
void choose_by_data(ValidateArguments& arguments) {
    std::error_code ignored;
    const bool file = std::filesystem::is_regular_file(arguments.data, ignored);
    if (!arguments.suites.empty() || (arguments.map.empty() && !file))
        return;
    const bool log = file && arguments.map.empty() && validation::is_nccl_log(arguments.data);
    arguments.suites.emplace_back(log ? "collectives" : kTables);
}

/// --map: how the table of the one suite that reads such tables is read.
std::filesystem::path
map_of(const ValidateArguments& arguments, const std::vector<const validation::Suite*>& chosen) {
    if (arguments.map.empty())
        return {};
    if (chosen.size() != 1 || chosen.front()->name != kTables)
        throw ConfigError(
            "--map", "", fmt::format("is of tables of suite {}; expected that alone", kTables));
    if (arguments.data.empty())
        throw ConfigError("--map", "", "is given without --data; expected the table that it maps");
    return arguments.map;
}

validation::KeptResults kept_results(const ValidateArguments& arguments) {
    if (arguments.no_cache)
        return {};
    const std::filesystem::path folder = arguments.cache.empty()
                                             ? validation::default_cache_folder()
                                             : std::filesystem::path(arguments.cache);
    return folder.empty() ? validation::KeptResults()
                          : validation::KeptResults(folder / "validate");
}

/// What results of suites are kept by. Files that cannot be read may be of no suite: then nothing
/// is kept.
std::string digest_of_inputs(validation::SuiteOptions& options, const Log& log) {
    try {
        return validation::digest_of_inputs(options);
    } catch (const IoError& error) {
        log.step(fmt::format("no results are kept: {}", error.what()));
    } catch (const std::filesystem::filesystem_error& error) {
        log.step(fmt::format("no results are kept: {}", error.what()));
    }
    options.kept = {};
    return {};
}

/// --data for several suites: a folder of measurements.
std::filesystem::path folder_of_all(const std::string& data) {
    std::error_code ignored;
    if (std::filesystem::is_directory(data, ignored))
        return data;
    throw ConfigError(
        "--data", "",
        fmt::format(
            "\"{}\" is not a folder; expected a folder of measurements, or a file and the name of "
            "exactly one suite",
            data));
}

/// --system: the machine of all data that the single suite reads.
std::filesystem::path
system_of(const ValidateArguments& arguments, const std::vector<const validation::Suite*>& chosen) {
    if (arguments.system.empty())
        return {};
    if (chosen.size() == 1 && chosen.front()->takes_system)
        return named_system(arguments.system);
    std::vector<std::string_view> able;
    for (const validation::Suite& suite : validation::suites())
        if (suite.takes_system)
            able.push_back(suite.name);
    throw ConfigError(
        "--system", "",
        fmt::format(
            "is the machine of one suite's data; expected the name of exactly one of: {}",
            fmt::join(able, ", ")));
}

int validate(ValidateArguments arguments, const Log& log) {
    choose_by_data(arguments);
    const auto chosen = chosen_suites(arguments);
    validation::SuiteOptions options;
    options.system = system_of(arguments, chosen);
    options.root = validation::find_root(arguments.root);
    options.jobs = arguments.jobs;
    options.map = map_of(arguments, chosen);
    options.row_seconds = arguments.row_seconds;
    options.kept = kept_results(arguments);
    options.measurements = validation::named_measurements();
    if (!arguments.data.empty() && chosen.size() == 1)
        options.data = arguments.data;
    else if (!arguments.data.empty())
        options.measurements = folder_of_all(arguments.data);
    // Looks for all data before anything long runs.
    for (const validation::Suite* suite : chosen)
        static_cast<void>(validation::data_of(*suite, options));
    const std::string inputs = digest_of_inputs(options, log);
    std::vector<validation::SuiteResult> results;
    for (const validation::Suite* suite : chosen) {
        ProgressLine line(log.quiet());
        options.log = [&](const std::string& text) {
            line.clear();
            log.step(fmt::format("suite {}: {}", suite->name, text));
        };
        log.step(fmt::format("suite {}", suite->name));
        options.progress = [&](const WorkerProgress& progress) { line.show(progress); };
        results.push_back(validation::run_or_take(*suite, options, inputs));
    }
    validation::judge_all(results, options.root);
    std::string text;
    if (arguments.json)
        text = validation::to_json(results);
    else
        for (const validation::SuiteResult& result : results)
            text += (text.empty() ? "" : "\n") + validation::to_text(result);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return static_cast<int>(validation::exit_code_of(results));
}

constexpr std::array kShares{0.5, 0.8, 0.9, 0.95};
/// Of measured values in 90 % ranges.
constexpr double kFewest = 0.85;
constexpr double kMost = 0.95;

OrderedJson coverage_json(const intervals::Coverage& c, double nominal) {
    return {
        {"kind", c.kind},
        {"nominal", nominal},
        {"machines", c.machines},
        {"cases", c.cases},
        {"unmeasured", c.unmeasured},
        {"share", std::round(c.share() * 1e4) / 1e4},
        {"median_width", std::round(std::exp(c.median_width) * 1e3) / 1e3},
        {"tells", c.machines >= intervals::kMachinesToTell}};
}

std::string coverage_text(const OrderedJson& rows) {
    std::string text = fmt::format(
        "{:<12}{:>8}{:>10}{:>8}{:>12}{:>10}{:>8}\n", "kind", "nominal", "machines", "cases",
        "unmeasured", "share", "width");
    for (const OrderedJson& row : rows)
        text += fmt::format(
            "{:<12}{:>8}{:>10}{:>8}{:>12}{:>10}{:>8}{}\n", row["kind"].get<std::string>(),
            fmt::format("{:g} %", row["nominal"].get<double>() * 100),
            row["machines"].get<std::size_t>(), row["cases"].get<std::size_t>(),
            row["unmeasured"].get<std::size_t>(),
            fmt::format("{:.1f} %", row["share"].get<double>() * 100),
            fmt::format("x{:.2f}", row["median_width"].get<double>()),
            row["tells"].get<bool>() ? "" : "  too few machines to tell");
    return text;
}

/// How often ranges hold what was measured on machines that were left out.
int cover(const ValidateArguments& arguments) {
    const intervals::Residuals residuals =
        intervals::Residuals::read(residuals_file(validation::find_root(arguments.root)));
    std::vector<intervals::Nominal> nominal;
    for (const double share : kShares)
        nominal.push_back({share, 1});
    const auto found = intervals::leave_machines_out(residuals, nominal);
    OrderedJson rows = OrderedJson::array();
    for (std::size_t kind = 0; kind < found.front().size(); ++kind)
        for (std::size_t i = 0; i < kShares.size(); ++i)
            rows.push_back(coverage_json(found[i][kind], kShares[i]));
    for (const intervals::Nominal& one : nominal)
        rows.push_back(coverage_json(
            intervals::leave_machines_out_of_ratios(residuals, one).coverage, one.share));
    for (const intervals::Nominal& one : nominal)
        rows.push_back(
            coverage_json(intervals::halve_machines(residuals, "collective", one), one.share));
    for (const intervals::Nominal& one : nominal)
        rows.push_back(coverage_json(
            intervals::leave_machines_out_of_pairs(residuals, "step", one), one.share));
    const std::string text =
        arguments.json ? OrderedJson{{"coverage", rows}}.dump(2) + "\n" : coverage_text(rows);
    std::fwrite(text.data(), 1, text.size(), stdout);
    const bool holds = std::all_of(rows.begin(), rows.end(), [](const OrderedJson& row) {
        const double share = row["share"];
        return row["nominal"] != 0.9 || !row["tells"].get<bool>() ||
               (share >= kFewest && share <= kMost);
    });
    return static_cast<int>(holds ? ExitCode::kDone : ExitCode::kOutOfTolerance);
}

}  // namespace

void add_validate(CLI::App& app, Chosen& chosen, const Log& log) {
    auto arguments = std::make_shared<ValidateArguments>();
    std::string what =
        "Compare the simulator with measurements of real machines. Exit code 1: a suite is outside "
        "its tolerance. A suite without data is skipped, with a line that says so.\n\n"
        "Suites:\n";
    for (const validation::Suite& suite : validation::suites())
        what += fmt::format("  {:<12} {}\n", suite.name, suite.what);
    CLI::App* command = app.add_subcommand(
        "validate",
        what + "\nExamples:\n  switchfold validate collectives --data my_tables.csv\n"
               "  switchfold validate collectives --data all_reduce.txt --system "
               "configs/systems/hgx_h100.json\n"
               "  switchfold validate --data my.csv --map my.map.json\n"
               "  switchfold validate --data columns_named_by_pointer.csv --system hgx_h100.json");
    command->add_option("SUITE", arguments->suites, "Suites to run. Default: all");
    command->add_option(
        "--data", arguments->data,
        "Measurements: a folder that holds reference/ and traces/, or the file of the one suite "
        "that is named. Default: the folder in SWITCHFOLD_DATA, then the repository's");
    command->add_option(
        "--map", arguments->map,
        "experiments: the file that says what the table's columns are. Default: NAME.map.json "
        "beside the table, or columns named by JSON pointer (docs/validation.md)");
    command
        ->add_option(
            "--row-seconds", arguments->row_seconds,
            "collectives, experiments: processor time of a row's simulation, above which the row "
            "is "
            "left out; 0: no limit. Default: 120 s in experiments, no limit in collectives")
        ->check(CLI::Range(0U, 1U << 30U));
    command->add_option(
        "--cache", arguments->cache,
        "Folder that keeps results for later runs. Default: switchfold in XDG_CACHE_HOME or "
        "~/.cache");
    command->add_flag("--no-cache", arguments->no_cache, "Do not read or keep such results");
    command->add_option(
        "--system", arguments->system,
        "collectives, experiments: the machine that was measured. Logs of nccl-tests need it; of "
        "tables it stands for what their columns say");
    command->add_option(
        "--root", arguments->root,
        "Folder that holds configs/systems. Default: looked for in the folders above");
    command->add_flag(
        "--coverage", arguments->coverage,
        "Simulate nothing: leave out one machine of the shipped residuals at a time, and say how "
        "many of its measured values lie in the ranges that the others give. Exit code 1: 90 % "
        "ranges hold less than 85 or more than 95 % of them");
    command->add_flag("--json", arguments->json, "Print JSON instead of tables");
    command->add_option("--jobs", arguments->jobs, "Simulations that run at the same time")
        ->check(CLI::Range(1U, 1024U));
    command->callback([arguments, &chosen, &log] {
        chosen = [arguments, &log] {
            return arguments->coverage ? cover(*arguments) : validate(*arguments, log);
        };
    });
}

}  // namespace switchfold
