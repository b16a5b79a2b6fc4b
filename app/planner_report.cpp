// SPDX-License-Identifier: Apache-2.0
#include "app/planner_report.h"

#include "core/gibibytes.h"
#include "core/record_json.h"
#include "core/units.h"
#include "sim/config/planner_params.h"
#include "sim/planner/plan_files.h"
#include "sim/uncertainty/figure_intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

double percent_more(double value, double than) {
    return 100 * (value / than - 1);
}

std::string plural(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string_view decides(const PlanBound& bound) {
    return bound.seconds() == bound.path    ? "path"
           : bound.seconds() == bound.links ? "links"
                                            : "arithmetic";
}

class PlannerText {
public:
    PlannerText(const LoadedExperiment& loaded, const PlannerResult& result) :
        loaded_(loaded), result_(result) {}

    std::string text() const {
        std::string out = space() + "\n" + table() + "\n" + proof() + free_overlap();
        out += intervals() + gains();
        for (const std::string& note : result_.space.notes)
            out += "note: " + note + "\n";
        if (result_.failed > 0)
            out += fmt::format(
                "note: {} failed; the first: {}\n", plural(result_.failed, "simulation"),
                result_.failure);
        return out;
    }

    std::string json() const {
        OrderedJson refused = OrderedJson::object();
        for (const auto& [why, plans] : result_.space.refused)
            refused[why] = {{"plans", plans.plans}, {"example", plans.example}};
        OrderedJson plans = OrderedJson::array();
        for (const std::size_t at : shown())
            plans.push_back(plan_of(result_.simulated[at]));
        OrderedJson out{
            {"experiment", loaded_.experiment.name},
            {"system", loaded_.experiment.system->name},
            {"gpus", result_.space.gpus},
            {"global_batch", loaded_.experiment.planner->global_batch},
            {"combinations", result_.space.combinations},
            {"plans", result_.space.candidates.size()},
            {"too_large", result_.space.too_large},
            {"refused", std::move(refused)},
            {"simulated", result_.simulated.size()},
            {"failed", result_.failed},
            {"proved", result_.proved()},
            {"open", result_.open},
            {"least_bound_s", result_.least_bound},
            {"gap", gap()},
            {"best", std::move(plans)}};
        if (result_.alone_best)
            out["best_if_overlap_were_free"] = plan_of(result_.simulated[*result_.alone_best]);
        out["notes"] = result_.space.notes;
        return out.dump(2) + "\n";
    }

private:
    [[nodiscard]] const PlanCandidate& candidate(const SimulatedPlan& plan) const {
        return result_.candidate(plan);
    }
    [[nodiscard]] std::string name(const SimulatedPlan& plan) const {
        return name_of(candidate(plan), loaded_.experiment);
    }
    [[nodiscard]] double best() const { return result_.simulated.front().seconds; }
    /// Gap between the best plan and the lower bound on all plans, as a share of the best.
    [[nodiscard]] double gap() const { return 1 - result_.least_bound / best(); }

    /// The best plan and its runners-up, and the best with free overlap.
    [[nodiscard]] std::set<std::size_t> shown() const {
        std::set<std::size_t> all;
        const std::size_t most = 1 + loaded_.experiment.planner->runners_up;
        for (std::size_t i = 0; i < std::min(most, result_.simulated.size()); ++i)
            all.insert(i);
        if (result_.alone_best)
            all.insert(*result_.alone_best);
        return all;
    }

    [[nodiscard]] std::string space() const {
        const CandidateSpace& space = result_.space;
        std::string out = fmt::format(
            "{} on {}: {} a step on {}\n", loaded_.experiment.name, loaded_.experiment.system->name,
            plural(loaded_.experiment.planner->global_batch, "sample"), plural(space.gpus, "GPU"));
        out += fmt::format(
            "{}: with each scenario {} fit, {} need more memory than a GPU has",
            plural(space.combinations, "combination"), plural(space.candidates.size(), "plan"),
            space.too_large);
        std::uint64_t refused = 0;
        for (const auto& [why, plans] : space.refused)
            refused += plans.plans;
        if (refused > 0)
            out += fmt::format(", {} cannot be", refused);
        out += "\n";
        for (const auto& [why, plans] : space.refused)
            out += fmt::format("  {} x {}, as {}\n", plans.plans, why, plans.example);
        return out;
    }

    [[nodiscard]] std::string table() const {
        std::size_t width = 4;
        for (const std::size_t at : shown())
            width = std::max(width, name(result_.simulated[at]).size());
        std::string out = fmt::format(
            "  # {:<{}}  ms a step  samples/s  bound ms  by          GiB  overlap free\n", "plan",
            width);
        for (const std::size_t at : shown()) {
            const SimulatedPlan& plan = result_.simulated[at];
            const PlanCandidate& c = candidate(plan);
            out += fmt::format(
                "{:>3} {:<{}} {:>10.3f} {:>10.1f} {:>9.3f}  {:<10} {:>4.1f}  {:>12}\n", at + 1,
                name(plan), width, to_milliseconds(plan.seconds),
                loaded_.experiment.planner->global_batch / plan.seconds,
                to_milliseconds(c.bound.seconds()), decides(c.bound), in_gibibytes(c.memory_bytes),
                plan.alone_seconds ? fmt::format("{:.3f}", to_milliseconds(*plan.alone_seconds))
                                   : "-");
        }
        return out;
    }

    /// Of a step's time: the same factors for all plans.
    [[nodiscard]] std::string intervals() const {
        if (!result_.step_error)
            return "";
        const FigureInterval& error = *result_.step_error;
        if (!error.low)
            return "intervals: " + error.like + "\n";
        return fmt::format(
            "intervals: 90 % of {}, between {:.2f} and {:.2f} times the simulated step, the best "
            "plan's between {:.3f} and {:.3f} ms; run of a plan says more\n",
            error.like, *error.low, *error.high, to_milliseconds(best() * *error.low),
            to_milliseconds(best() * *error.high));
    }

    /// Of one plan's time over another's, and which plans it does not tell from the best.
    [[nodiscard]] std::string gains() const {
        if (!result_.ratio_error || !result_.ratio_error->low || result_.simulated.size() < 2)
            return "";
        const FigureInterval& error = *result_.ratio_error;
        const double next = result_.simulated[1].seconds / best();
        const auto told = std::count_if(
            result_.simulated.begin() + 1, result_.simulated.end(),
            [&](const auto& plan) { return plan.seconds / best() * *error.low > 1; });
        const auto near = static_cast<std::ptrdiff_t>(result_.simulated.size()) - 1 - told;
        return fmt::format(
            "gains: plan 2 takes {:.3f} times the best's time, {:.3f} to {:.3f} in 90 % of such "
            "pairs on one machine; {} may be as fast as the best\n",
            next, next * *error.low, next * *error.high,
            near == 0 ? "no other plan" : plural(static_cast<std::uint64_t>(near), "other plan"));
    }

    [[nodiscard]] std::string proof() const {
        const std::size_t others = result_.space.candidates.size() - result_.simulated.size();
        if (result_.proved())
            return fmt::format(
                "proved: no plan of the space is faster. {} had to be simulated; the bounds of the "
                "other {} are not below {:.3f} ms\n",
                plural(result_.simulated.size(), "plan"), others, to_milliseconds(best()));
        return fmt::format(
            "not proved: the budget left {} open whose bounds are below {:.3f} ms; none is below "
            "{:.3f} ms, so a better one is at most {:.1f} % faster. {} simulated\n",
            plural(result_.open, "plan"), to_milliseconds(best()),
            to_milliseconds(result_.least_bound), percent_more(best(), result_.least_bound),
            plural(result_.simulated.size(), "plan"));
    }

    [[nodiscard]] std::string free_overlap() const {
        if (!result_.alone_best)
            return "the budget did not suffice to tell which plan would win if overlap were free\n";
        const SimulatedPlan& plan = result_.simulated[*result_.alone_best];
        if (*result_.alone_best == 0)
            return fmt::format(
                "the same plan would win if overlap were free, in {:.3f} ms: contention costs it "
                "{:.1f} %\n",
                to_milliseconds(*plan.alone_seconds),
                percent_more(plan.seconds, *plan.alone_seconds));
        return fmt::format(
            "if overlap were free, plan {} would win in {:.3f} ms; with contention it takes {:.3f} "
            "ms, {:.1f} % more than the best, which planning without contention would lose\n",
            *result_.alone_best + 1, to_milliseconds(*plan.alone_seconds),
            to_milliseconds(plan.seconds), percent_more(plan.seconds, best()));
    }

    [[nodiscard]] OrderedJson plan_of(const SimulatedPlan& plan) const {
        const PlanCandidate& c = candidate(plan);
        OrderedJson out{
            {"name", name(plan)},
            {"plan", plan_json(c)},
            {"scenario", loaded_.experiment.scenarios[c.scenario].name},
            {"step_s", plan.seconds},
            {"bound_s", c.bound.seconds()},
            {"bound_arithmetic_s", c.bound.arithmetic},
            {"bound_links_s", c.bound.links},
            {"bound_path_s", c.bound.path},
            {"memory_bytes", c.memory_bytes}};
        const auto tell = [&](const char* key, const std::optional<FigureInterval>& error,
                              double value) {
            if (!error)
                return;
            out["intervals"][key] = record_json(scaled(*error, value));
        };
        tell("step_s", result_.step_error, plan.seconds);
        if (&plan != &result_.simulated.front()) {
            out["ratio_to_best"] = plan.seconds / best();
            tell("ratio_to_best", result_.ratio_error, plan.seconds / best());
        }
        out["step_without_contention_s"] =
            plan.alone_seconds ? OrderedJson(*plan.alone_seconds) : OrderedJson(nullptr);
        return out;
    }

    const LoadedExperiment& loaded_;
    const PlannerResult& result_;
};

}  // namespace

std::string planner_text(const LoadedExperiment& loaded, const PlannerResult& result) {
    return PlannerText(loaded, result).text();
}

std::string planner_json(const LoadedExperiment& loaded, const PlannerResult& result) {
    return PlannerText(loaded, result).json();
}

}  // namespace switchfold
