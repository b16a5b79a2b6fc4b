// SPDX-License-Identifier: Apache-2.0
#include "validation/training/learning_orders.h"

#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"
#include "sim/sweep/run_record.h"
#include "validation/harness/suite_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr const char* kMethods = "validation/maps/learning_orders.json";
constexpr std::string_view kAccuracy = "best_validation_accuracy_percent";
constexpr const char* kSynchronous = "synchronous";
/// Points of accuracy: rows are of one run each, and runs of one method differ by some tenths.
constexpr double kApart = 0.5;

struct Trained {
    std::string id;
    std::string model;
    std::string method;        ///< a scenario's name
    std::uint32_t stages = 0;  ///< 0: synchronous training learns alike on any number
    double accuracy = 0;       ///< percent
};

/// Two methods of one network, the better one first.
struct Pair {
    const Trained* better = nullptr;
    const Trained* worse = nullptr;
    std::uint32_t stages = 0;
};

using LossByMethod = std::map<std::string, double>;

/// What every schedule with a flush, and data parallelism, trains like: bit by bit one GPU.
std::string method_of(const std::string& schedule) {
    return schedule == "data_parallel" || schedule == "sequential" ? kSynchronous : schedule;
}

std::vector<Pair> pairs_of(const std::vector<Trained>& rows) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = i + 1; j < rows.size(); ++j) {
            const Trained& a = rows[i];
            const Trained& b = rows[j];
            const bool alike = a.stages == b.stages || a.stages == 0 || b.stages == 0;
            if (a.model != b.model || !alike || a.method == b.method ||
                std::abs(a.accuracy - b.accuracy) < kApart)
                continue;
            const bool first = a.accuracy > b.accuracy;
            pairs.push_back({first ? &a : &b, first ? &b : &a, std::max(a.stages, b.stages)});
        }
    return pairs;
}

/// The methods of a pipeline of so many stages; its file is read as of the repository.
LoadedExperiment experiment_of(const std::filesystem::path& root, std::uint32_t stages) {
    const std::filesystem::path file = root / kMethods;
    Json json = load_json(file);
    json["system"] =
        (std::filesystem::absolute(root) / json.at("system").get<std::string>()).string();
    return load_experiment(json, file, std::vector<Override>{{"/workload/plan/pipeline", stages}});
}

/// Final losses by scenario; one that diverged has the worst.
std::vector<double> losses(const LoadedExperiment& loaded, const JobProgress& progress) {
    RunOptions options;
    options.in_process = true;
    options.progress = [&](const WorkerProgress& p) { progress(p.share, p.events); };
    std::vector<double> found;
    for (const RecordedScenario& scenario : record_of(run_experiment(loaded, options)).scenarios)
        found.push_back(scenario.final_loss.value_or(std::numeric_limits<double>::infinity()));
    return found;
}

std::map<std::uint32_t, LossByMethod>
learnt(const std::set<std::uint32_t>& stages, const SuiteOptions& options) {
    std::map<std::uint32_t, LoadedExperiment> experiments;
    for (const std::uint32_t count : stages)
        experiments.emplace(count, experiment_of(options.root, count));
    std::vector<Job> jobs;
    for (const auto& entry : experiments)
        jobs.push_back(
            {fmt::format("learning, {} stages", entry.first),
             [&loaded = entry.second](const JobProgress& progress) {
                 return value_bytes(losses(loaded, progress));
             }});
    const auto all = values_of_suite<std::vector<double>>(jobs, options);
    std::map<std::uint32_t, LossByMethod> found;
    std::size_t job = 0;
    for (const auto& [count, loaded] : experiments) {
        const auto& scenarios = loaded.experiment.scenarios;
        for (std::size_t i = 0; i < scenarios.size(); ++i)
            found[count][scenarios[i].name] = all[job].at(i);
        ++job;
    }
    return found;
}

Case order_case(const Pair& pair, const LossByMethod& loss) {
    const double better = loss.at(pair.better->method);
    const double worse = loss.at(pair.worse->method);
    Case c;
    c.id = fmt::format(
        "{}, {} stages: {} over {}", pair.better->model, pair.stages, pair.better->method,
        pair.worse->method);
    const bool all_stale =
        pair.better->method != kSynchronous && pair.worse->method != kSynchronous;
    c.group = fmt::format(
        "order of {}, {} stages", all_stale ? "asynchronous methods" : "synchronous and others",
        pair.stages);
    c.quantity = "better one";
    c.unit = "1";
    c.measured = 1;
    c.simulated = better < worse ? 1 : better > worse ? -1 : 0;
    c.how = fmt::format(
        "{} and {} %; losses of a small network {:.4f} and {:.4f}", pair.better->accuracy,
        pair.worse->accuracy, better, worse);
    return c;
}

}  // namespace

bool states_learning(const CsvRecord& row) {
    return row["quantity"] == kAccuracy;
}

void compare_learning(
    const std::filesystem::path& table, const SuiteOptions& options, SuiteResult& result) {
    const CsvTable all = read_csv(table);
    std::vector<Trained> rows;
    for (const CsvRecord& record : all.records) {
        if (!states_learning(record))
            continue;
        Trained row{record["id"], record["model"], method_of(record["schedule"]), 0, 0};
        row.accuracy = std::strtod(record["value"].c_str(), nullptr);
        if (row.method != kSynchronous)
            row.stages =
                static_cast<std::uint32_t>(std::strtoul(record["stages"].c_str(), nullptr, 10));
        rows.push_back(std::move(row));
    }
    if (rows.empty())
        return;
    std::set<std::string> known;
    for (const ScenarioParams& scenario : experiment_of(options.root, 2).experiment.scenarios)
        known.insert(scenario.name);
    std::erase_if(rows, [&](const Trained& row) {
        const bool changes = !known.contains(row.method);
        if (changes)
            result.unmatched.push_back(
                {row.id,
                 "changes its method on the way, after a number of steps that is not stated"});
        return changes;
    });
    const std::vector<Pair> pairs = pairs_of(rows);
    std::set<std::uint32_t> stages;
    std::set<const Trained*> compared;
    for (const Pair& pair : pairs) {
        stages.insert(pair.stages);
        compared.insert({pair.better, pair.worse});
    }
    for (const Trained& row : rows)
        if (!compared.contains(&row))
            result.unmatched.push_back(
                {row.id, "is less than half a point from every other method: its one run tells "
                         "them not apart"});
    const std::map<std::uint32_t, LossByMethod> loss = learnt(stages, options);
    for (const Pair& pair : pairs)
        result.cases.push_back(order_case(pair, loss.at(pair.stages)));
}

}  // namespace switchfold::validation
