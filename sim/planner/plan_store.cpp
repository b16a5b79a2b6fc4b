// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/plan_store.h"

#include "core/fnv.h"
#include "core/json.h"
#include "sim/config/planner_params.h"
#include "sim/planner/plan_files.h"
#include "sim/sweep/digest.h"
#include "sim/uncertainty/figure_intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// Hash of what all candidates share: the experiment without its space, so that simulations remain
/// valid when the space grows.
std::string digest_of_base(const LoadedExperiment& loaded) {
    Experiment base = loaded.experiment;
    base.planner.reset();
    return DigestMaker().of(complete_experiment(std::move(base), loaded.file));
}

/// Columns of the database: a plan's choices.
std::vector<std::pair<std::string, Json>>
choices_of(const PlanCandidate& candidate, const Experiment& experiment) {
    std::vector<std::pair<std::string, Json>> choices;
    const Json json = Json::parse(plan_json(candidate).dump());
    for (const auto& [key, value] : json.items())
        choices.emplace_back(key, value);
    choices.emplace_back("collectives", experiment.scenarios[candidate.scenario].name);
    return choices;
}

class AxisMaker {
public:
    explicit AxisMaker(SweepPlan& plan) : plan_(plan) {}

    std::uint32_t position(std::size_t axis, const std::string& name, const Json& value) {
        if (axis == plan_.axes.size()) {
            plan_.axes.push_back(
                {name, {name == "collectives" ? "/scenarios" : "/workload/plan/" + name}, {}});
            known_.emplace_back();
        }
        const std::string text = value.dump();
        const auto [at, fresh] =
            known_[axis].emplace(text, static_cast<std::uint32_t>(plan_.axes[axis].values.size()));
        if (fresh)
            plan_.axes[axis].values.push_back(
                {{value}, value.is_string() ? value.get<std::string>() : text, measure_of(value)});
        return at->second;
    }

private:
    SweepPlan& plan_;
    std::vector<std::map<std::string, std::uint32_t>> known_;
};

}  // namespace

PlanStore::PlanStore(
    const LoadedExperiment& loaded, const CandidateSpace& space,
    const std::optional<std::filesystem::path>& folder) :
    loaded_(loaded), space_(space), folder_(folder) {
    if (!folder_)
        return;
    plan_.name = "plans of " + loaded.experiment.name;
    plan_.files = {loaded.file, loaded.file};
    AxisMaker axes(plan_);
    const std::string base = digest_of_base(loaded);
    for (const PlanCandidate& candidate : space.candidates)
        for (const bool contention : {false, true}) {
            SweepPoint point;
            Fnv hash;
            hash.add(base);
            std::size_t axis = 0;
            const auto add = [&](const std::string& name, const Json& value) {
                point.at.push_back(axes.position(axis++, name, value));
                hash.add(name).add("=").add(value.dump()).add(";");
            };
            for (const auto& [name, value] : choices_of(candidate, loaded.experiment))
                add(name, value);
            add("contention", contention ? "on" : "off");
            point.digest = fmt::format("{:016x}", hash.value());
            plan_.points.push_back(std::move(point));
        }
    open();
}

void PlanStore::open() {
    lock_ = std::make_unique<FolderLock>(*folder_);
    database_ = std::make_unique<SweepDatabase>(*folder_ / kDatabaseName, plan_);
    known_ = database_->iterations();
}

void PlanStore::forget_failed() {
    if (database_)
        database_->forget_failed();
}

std::string PlanStore::run_by_slurm(
    const std::vector<std::size_t>& candidates, bool contention, const SlurmOptions& slurm,
    const SweepOptions& options) {
    SweepOptions share = options;
    share.out = *folder_;
    share.only.emplace();
    for (const std::size_t candidate : candidates)
        share.only->insert(digest(candidate, contention));
    database_.reset();
    lock_.reset();
    const SweepSummary summary = run_sweep_by_slurm(plan_, share, slurm);
    open();
    return summary.failures.empty()
               ? std::string()
               : summary.failures.front().first + ": " + summary.failures.front().second;
}

std::optional<double> PlanStore::known(std::size_t candidate, bool contention) const {
    if (!database_)
        return {};
    const auto found = known_.find(digest(candidate, contention));
    return found == known_.end() ? std::nullopt : std::optional(found->second / kMicroseconds);
}

RunRecord PlanStore::record(std::size_t candidate, bool contention) const {
    RunRecord record;
    record.digest = digest(candidate, contention);
    record.machine = loaded_.experiment.system->name;
    return record;
}

void PlanStore::keep(
    std::size_t candidate, bool contention, double seconds,
    const std::optional<FigureInterval>& error) {
    if (!database_)
        return;
    RunRecord run = record(candidate, contention);
    RecordedScenario& scenario = run.scenarios.emplace_back();
    scenario.name = loaded_.experiment.scenarios[space_.candidates[candidate].scenario].name;
    scenario.overlap = true;
    scenario.iteration_us = seconds * kMicroseconds;
    scenario.samples_per_s = loaded_.experiment.planner->global_batch / seconds;
    if (contention && error) {
        scenario.intervals["iteration_us"] = scaled(*error, scenario.iteration_us);
        scenario.intervals["samples_per_s"] = inverse_interval(*scenario.samples_per_s, 1, *error);
    }
    database_->record(run);
}

void PlanStore::fail(std::size_t candidate, bool contention, const JobResult& result) {
    if (!database_)
        return;
    RunRecord run = record(candidate, contention);
    run.exit_code = static_cast<int>(result.code);
    run.error = result.error;
    database_->record(run);
}

void PlanStore::tick() {
    if (database_)
        database_->tick();
}

void PlanStore::flush() {
    if (database_)
        database_->flush();
}

}  // namespace switchfold
