// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/plan_files.h"

#include "core/csv.h"
#include "core/error.h"
#include "core/named_path.h"
#include "core/params_writer.h"
#include "sim/config/planner_params.h"
#include "sim/output/replaced_file.h"

#include <fmt/format.h>

#include <system_error>

namespace switchfold {

namespace {

namespace fs = std::filesystem;

/// Rewrites a path of the experiment's file for a file in `folder`; text after # is kept.
std::string
moved(const std::string& written, const LoadedExperiment& loaded, const fs::path& folder) {
    const std::size_t mark = written.find('#');
    const fs::path path = written.substr(0, mark);
    if (path.empty() || path.is_absolute())
        return written;
    std::error_code error;
    const fs::path there = fs::absolute(path_named_in(loaded.file, path), error);
    const fs::path relative =
        there.lexically_normal().lexically_relative(fs::absolute(folder, error).lexically_normal());
    return (relative.empty() ? there.lexically_normal() : relative).string() +
           (mark == std::string::npos ? "" : written.substr(mark));
}

void move_path(
    OrderedJson& object, const char* key, const LoadedExperiment& loaded, const fs::path& folder) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_string() && !found->get<std::string>().empty())
        *found = moved(found->get<std::string>(), loaded, folder);
}

/// The experiment as in its file or, if the command line changed it, in full.
OrderedJson written(const LoadedExperiment& loaded) {
    std::error_code ignored;
    if (fs::is_regular_file(loaded.file, ignored)) {
        try {
            if (load_experiment(loaded.file, {}).digest == loaded.digest)
                return OrderedJson::parse(load_json(loaded.file).dump());
        } catch (const ConfigError&) {
            // The file is valid only with the command line's changes.
        }
    }
    return OrderedJson::parse(loaded.effective_config);
}

OrderedJson scenario_json(
    const PlanCandidate& candidate, const LoadedExperiment& loaded, const OrderedJson& json) {
    const OrderedJson all = OrderedJson::parse(loaded.effective_config)["scenarios"];
    const OrderedJson& in_full = all.at(candidate.scenario);
    if (json.contains("scenarios"))
        for (const OrderedJson& scenario : json["scenarios"])
            if (scenario["name"] == in_full["name"])
                return scenario;
    return in_full;
}

}  // namespace

OrderedJson plan_json(const PlanCandidate& candidate) {
    const ParallelPlan& plan = candidate.plan;
    OrderedJson json{
        {"data", plan.data},
        {"tensor", plan.tensor},
        {"context", plan.context},
        {"pipeline", plan.pipeline},
        {"sequence", plan.sequence},
        {"micro_batch", plan.micro_batch},
        {"accumulate", plan.accumulate},
        {"schedule", plan.schedule},
        {"chunks", plan.chunks},
        {"sharding", std::string(enum_name(plan.sharding))},
        {"recompute", std::string(enum_name(plan.recompute))},
        {"overlap_gradients", plan.overlap_gradients},
        {"fold", candidate.fold}};
    json["memory"] = candidate.memory ? write_value(*candidate.memory) : OrderedJson(nullptr);
    return json;
}

std::string experiment_text(
    const PlanCandidate& candidate, const LoadedExperiment& loaded, const fs::path& folder) {
    OrderedJson json = written(loaded);
    json["name"] = loaded.experiment.name + "_planned";
    if (json["system"].is_string())
        move_path(json, "system", loaded, folder);
    else
        json["system"] = system_json(*loaded.experiment.system);
    OrderedJson& workload = json["workload"];
    for (const char* key : {"table", "kernel_times"})
        move_path(workload, key, loaded, folder);
    const auto& params = *workload_of<TrainingWorkloadParams>(loaded.experiment);
    if (params.network && !params.network->file().empty()) {
        if (workload["network"].is_string())
            move_path(workload, "network", loaded, folder);
        else
            move_path(workload["network"], "file", loaded, folder);
    }
    for (const char* key : {"strategy", "batch", "unit", "ranks"})
        workload.erase(key);
    if (!workload.contains("plan") || workload["plan"].is_null())
        workload["plan"] = OrderedJson::object();
    workload["plan"].update(plan_json(candidate));
    json["scenarios"] = OrderedJson::array({scenario_json(candidate, loaded, json)});
    for (const char* key : {"planner", "$schema"})
        json.erase(key);
    return json.dump(2) + "\n";
}

std::string plans_csv(const LoadedExperiment& loaded, const PlannerResult& result) {
    std::string text =
        "plan,step_ms,samples_per_s,step_ms_without_contention,bound_ms,bound_arithmetic_ms,"
        "bound_links_ms,bound_path_ms,memory_bytes,folded,step_ms_at_least,step_ms_at_most,"
        "ratio_to_best,ratio_to_best_at_least,ratio_to_best_at_most\n";
    const auto end = [](const std::optional<FigureInterval>& error, double value,
                        std::optional<double> FigureInterval::*which) {
        return error && (*error).*which ? fmt::format("{:.6f}", value * *((*error).*which))
                                        : std::string();
    };
    for (std::size_t at = 0; at < result.simulated.size(); ++at) {
        const SimulatedPlan& plan = result.simulated[at];
        const double ratio = plan.seconds / result.simulated.front().seconds;
        const PlanCandidate& candidate = result.candidate(plan);
        text += fmt::format(
            "{},{:.6f},{:.6g},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.0f},{},{},{},{:.6f},{},{}\n",
            csv_field(name_of(candidate, loaded.experiment)), plan.seconds * 1e3,
            loaded.experiment.planner->global_batch / plan.seconds,
            plan.alone_seconds ? fmt::format("{:.6f}", *plan.alone_seconds * 1e3) : "",
            candidate.bound.seconds() * 1e3, candidate.bound.arithmetic * 1e3,
            candidate.bound.links * 1e3, candidate.bound.path * 1e3, candidate.memory_bytes,
            candidate.fold, end(result.step_error, plan.seconds * 1e3, &FigureInterval::low),
            end(result.step_error, plan.seconds * 1e3, &FigureInterval::high), ratio,
            at == 0 ? "" : end(result.ratio_error, ratio, &FigureInterval::low),
            at == 0 ? "" : end(result.ratio_error, ratio, &FigureInterval::high));
    }
    return text;
}

void write_plan_files(
    const fs::path& folder, const LoadedExperiment& loaded, const PlannerResult& result) {
    replace_file(folder / "plans.csv", plans_csv(loaded, result));
    replace_file(
        folder / "plan.json",
        experiment_text(result.candidate(result.simulated.front()), loaded, folder));
}

}  // namespace switchfold
