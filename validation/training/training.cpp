// SPDX-License-Identifier: Apache-2.0
#include "core/csv.h"
#include "core/error.h"
#include "validation/experiments/mapped_suite.h"
#include "validation/experiments/simulated_rows.h"
#include "validation/harness/data.h"
#include "validation/harness/suite.h"
#include "validation/training/learning_orders.h"
#include "validation/training/schedule_rows.h"
#include "validation/training/speedups.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr std::string_view kSchedules = "schedules.csv";
constexpr std::string_view kSteps = "training_steps.csv";
/// Rows of public benchmarks that nothing was chosen on; read if the user names no table.
constexpr std::string_view kPublicSteps = "training_steps_public.csv";
constexpr std::string_view kStepMap = "validation/maps/training_steps.json";
constexpr std::string_view kSpeedupMap = "validation/maps/training_speedups.json";

struct Tables {
    std::optional<std::filesystem::path> schedules;
    std::vector<std::filesystem::path> steps;
};

/// A file that the user named is whichever table its columns are those of.
Tables table_named(const std::filesystem::path& file) {
    const CsvTable table = read_csv(file);
    if (table.has("quantity") && table.has("t_f_ms"))
        return {file, {}};
    if (table.has("gpu") && table.has("n_gpus"))
        return {{}, {file}};
    throw ConfigError(
        file.string(), "line 1",
        "is neither a table of schedules nor one of steps; expected the columns schedule, t_f_ms, "
        "quantity, value ... or gpu, n_gpus, model, schedule ... (docs/validation.md)");
}

/// What the user named is all that is read: nothing else is compared in its place.
Tables tables_in(const Suite& suite, const std::filesystem::path& folder) {
    Tables tables;
    for (const std::filesystem::path& at : {folder / suite.data, folder}) {
        std::error_code ignored;
        if (!tables.schedules && std::filesystem::is_regular_file(at / kSchedules, ignored))
            tables.schedules = at / kSchedules;
        if (tables.steps.empty() && std::filesystem::is_regular_file(at / kSteps, ignored))
            tables.steps.push_back(at / kSteps);
    }
    if (!tables.schedules && tables.steps.empty())
        throw ConfigError(
            folder.string(), "",
            fmt::format(
                "holds neither {} nor {}; expected either, or a folder that holds them as {}",
                kSchedules, kSteps, suite.data));
    return tables;
}

Tables found_tables(const Suite& suite, const SuiteOptions& options) {
    Tables tables;
    tables.schedules = find_data(options, fmt::format("{}/{}", suite.data, kSchedules));
    for (const std::string_view name : {kSteps, kPublicSteps})
        if (auto steps = find_data(options, fmt::format("{}/{}", suite.data, name)))
            tables.steps.push_back(std::move(*steps));
    return tables;
}

}  // namespace

SuiteResult run_training(const SuiteOptions& options) {
    const Suite& suite = suite_named("training");
    Tables tables;
    if (const auto named = options.data ? data_of(suite, options) : std::nullopt)
        tables =
            std::filesystem::is_directory(*named) ? tables_in(suite, *named) : table_named(*named);
    else
        tables = found_tables(suite, options);
    if (!tables.schedules && tables.steps.empty())
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    if (tables.schedules) {
        compare_schedules(*tables.schedules, result);
        compare_learning(*tables.schedules, options, result);
    }
    for (const std::filesystem::path& steps : tables.steps) {
        std::vector<Problem> problems;
        compare_rows(
            mapped_rows(steps, kStepMap, options, result), options, result, problems, false);
        compare_speedups(mapped_rows(steps, kSpeedupMap, options, result), options, result);
    }
    return result;
}

}  // namespace switchfold::validation
