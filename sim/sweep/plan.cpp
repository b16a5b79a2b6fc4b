// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/plan.h"

#include "core/named_path.h"
#include "core/params_reader.h"
#include "core/text_cells.h"
#include "sim/config/pointers.h"
#include "sim/sweep/digest.h"
#include "sim/workload/prepared_variant.h"
#include "sim/workload/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>

namespace switchfold {

namespace {

/// Limit on reported problems.
constexpr std::size_t kMostProblems = 20;

class Planner {
public:
    Planner(const Json& json, const std::filesystem::path& file, std::size_t most_points) :
        params_(read_params<SweepParams>(json, file, {})), most_points_(most_points) {
        plan_.name = params_.name;
        plan_.files = {file, file};
    }

    SweepPlan run() {
        read_experiment();
        for (std::size_t i = 0; i < params_.axes.size(); ++i)
            plan_.axes.push_back(
                expand_axis(params_.axes[i], plan_.files, fmt::format("/axes/{}", i), problems_));
        throw_if_any();
        add_repeats();
        check_size();
        check_filters(params_.only, "/only");
        check_filters(params_.except, "/except");
        throw_if_any();
        enumerate();
        check_points();
        throw_if_any();
        return std::move(plan_);
    }

private:
    [[noreturn]] void fail(const std::string& pointer, const std::string& message) const {
        throw ConfigError(plan_.files.sweep.string(), pointer, message);
    }
    void throw_if_any() {
        if (!problems_.empty())
            throw ConfigError(problems_);
    }

    void read_experiment() {
        const Json& experiment = params_.experiment.json;
        if (experiment.is_object()) {
            plan_.experiment = experiment;
            return;
        }
        if (!experiment.is_string())
            fail(
                "/experiment",
                fmt::format(
                    "is {}; expected an experiment, or the path of its file", shown(experiment)));
        plan_.files.experiment = path_named_in(plan_.files.sweep, experiment.get<std::string>());
        std::error_code ignored;
        if (!std::filesystem::exists(plan_.files.experiment, ignored))
            fail(
                "/experiment",
                fmt::format(
                    "names the file {}, which does not exist; expected an experiment",
                    plan_.files.experiment.string()));
        plan_.experiment = load_json(plan_.files.experiment);
    }

    void add_repeats() {
        if (params_.repeats == 1)
            return;
        Axis seeds{"seed", {"/seed"}, {}};
        for (std::uint32_t seed = 1; seed <= params_.repeats; ++seed)
            seeds.values.push_back({{seed}, fmt::format("{}", seed), measure_of(seed)});
        plan_.axes.push_back(std::move(seeds));
    }

    void check_size() const {
        double points = 1;
        for (const Axis& axis : plan_.axes)
            points *= static_cast<double>(axis.values.size());
        if (points > static_cast<double>(most_points_))
            fail(
                "/axes",
                fmt::format(
                    "make {:.3g} points; expected at most {}: take values away, or make two "
                    "sweeps",
                    points, most_points_));
    }

    void check_filters(const std::vector<FilterParams>& filters, const std::string& where) {
        std::vector<std::string_view> names;
        for (const Axis& axis : plan_.axes)
            names.push_back(axis.name);
        for (std::size_t i = 0; i < filters.size(); ++i)
            for (const auto& [name, wanted] : filters[i]) {
                const std::string at = fmt::format("{}/{}/{}", where, i, escape_token(name));
                const auto found = std::find(names.begin(), names.end(), name);
                if (found == names.end()) {
                    problems_.push_back(
                        {plan_.files.sweep.string(), at,
                         fmt::format(
                             "names no axis{}; expected one of: {}", did_you_mean(name, names),
                             fmt::join(names, ", "))});
                    continue;
                }
                const Axis& axis = plan_.axes[static_cast<std::size_t>(found - names.begin())];
                try {
                    // An array matches if any of its entries does: check each entry.
                    for (const Json& one :
                         wanted.json.is_array() ? wanted.json : Json::array({wanted.json}))
                        static_cast<void>(fits(axis, axis.values.front(), one));
                } catch (const std::invalid_argument& error) {
                    problems_.push_back({plan_.files.sweep.string(), at, error.what()});
                }
            }
    }

    [[nodiscard]] bool
    fits_one(const std::vector<FilterParams>& filters, const SweepPoint& point) const {
        return std::any_of(filters.begin(), filters.end(), [&](const FilterParams& filter) {
            for (std::size_t i = 0; i < plan_.axes.size(); ++i) {
                const Axis& axis = plan_.axes[i];
                const auto wanted = filter.find(axis.name);
                if (wanted != filter.end() &&
                    !fits(axis, axis.values[point.at[i]], wanted->second.json))
                    return false;
            }
            return true;
        });
    }

    /// All combinations that pass the filters, with the last axis varying fastest.
    void enumerate() {
        SweepPoint point;
        point.at.assign(plan_.axes.size(), 0);
        for (bool more = true; more;) {
            if ((params_.only.empty() || fits_one(params_.only, point)) &&
                !fits_one(params_.except, point))
                plan_.points.push_back(point);
            more = false;
            for (std::size_t i = plan_.axes.size(); i-- > 0 && !more;) {
                more = ++point.at[i] < plan_.axes[i].values.size();
                if (!more)
                    point.at[i] = 0;
            }
        }
        if (plan_.points.empty())
            fail("/axes", "leave no point after the filters; expected at least one");
    }

    void check_points() {
        DigestMaker digests;
        for (SweepPoint& point : plan_.points) {
            try {
                const LoadedExperiment loaded = load_point(plan_, point);
                // Traces are not read here, since they may be large.
                for (const Variant& variant : variants_of(loaded))
                    if (const auto& workload = variant.experiment->workload;
                        workload && !computes(*workload))
                        static_cast<void>(prepare_workload(loaded, variant));
                point.digest = digests.of(loaded);
            } catch (const ConfigError& error) {
                for (const Problem& problem : error.problems())
                    note(point, problem);
            }
            if (problems_.size() >= kMostProblems) {
                problems_.push_back(
                    {plan_.files.sweep.string(), "/axes", "has further problems; expected none"});
                return;
            }
        }
    }

    /// Attributes a problem to the value that caused it; reports each once.
    void note(const SweepPoint& point, const Problem& problem) {
        Problem told = problem;
        if (problem.file == "--set") {
            told = blamed(point, problem);
        } else if (told.file == plan_.files.sweep.string()) {
            // The experiment is in place, or the combination is invalid.
            told.pointer = "/experiment" + told.pointer;
            told.message += fmt::format(" (at {})", name_of(plan_, point));
        } else if (told.file == plan_.files.experiment.string()) {
            told.message += fmt::format(" (at {})", name_of(plan_, point));
        }
        if (told_.insert(told.file + told.pointer + problem.message).second)
            problems_.push_back(std::move(told));
    }

    [[nodiscard]] Problem blamed(const SweepPoint& point, const Problem& problem) const {
        for (std::size_t i = 0; i < plan_.axes.size(); ++i) {
            const Axis& axis = plan_.axes[i];
            for (std::size_t j = 0; j < axis.pointers.size(); ++j) {
                if (!related(problem.pointer, axis.pointers[j]))
                    continue;
                std::string at = fmt::format("/axes/{}", i);
                if (i >= params_.axes.size())
                    at = "/repeats";
                else if (j > 0)
                    at += fmt::format("/zip/{}", j - 1);
                return {
                    plan_.files.sweep.string(), at,
                    fmt::format(
                        "{} = {}: {}", problem.pointer, shown(axis.values[point.at[i]].values[j]),
                        problem.message)};
            }
        }
        return problem;
    }

    SweepParams params_;
    std::size_t most_points_;
    SweepPlan plan_;
    std::vector<Problem> problems_;
    std::set<std::string> told_;
};

}  // namespace

SweepPlan plan_sweep(const std::filesystem::path& file) {
    return plan_sweep(load_json(file), file);
}

SweepPlan plan_sweep(const Json& json, const std::filesystem::path& file, std::size_t most_points) {
    return Planner(json, file, most_points).run();
}

std::vector<Override> overrides_of(const SweepPlan& plan, const SweepPoint& point) {
    std::vector<Override> overrides;
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
        const Axis& axis = plan.axes[i];
        for (std::size_t j = 0; j < axis.pointers.size(); ++j)
            overrides.push_back({axis.pointers[j], axis.values[point.at[i]].values[j]});
    }
    order_overrides(overrides);
    return overrides;
}

std::string name_of(const SweepPlan& plan, const SweepPoint& point) {
    std::string name;
    for (std::size_t i = 0; i < plan.axes.size(); ++i)
        name += fmt::format(
            "{}{}={}", i == 0 ? "" : ", ", plan.axes[i].name,
            plan.axes[i].values[point.at[i]].label);
    return name;
}

LoadedExperiment load_point(const SweepPlan& plan, const SweepPoint& point) {
    const std::vector<Override> overrides = overrides_of(plan, point);
    return load_experiment(plan.experiment, plan.files.experiment, overrides);
}

}  // namespace switchfold
