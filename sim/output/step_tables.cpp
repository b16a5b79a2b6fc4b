// SPDX-License-Identifier: Apache-2.0
#include "sim/output/changes_text.h"
#include "sim/output/columns.h"
#include "sim/output/figure_text.h"
#include "sim/output/learning_text.h"
#include "sim/output/result_tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

/// Whether ranks wait for late ones longer than the skew of a few ring steps explains.
bool ranks_wait(const ExperimentResult& result) {
    return std::any_of(
        result.scenarios.begin(), result.scenarios.end(),
        [](const ScenarioResult& s) { return is_noticeable(s.waiting_us, s); });
}

/// Whether the rows are workloads that share the machine.
bool shares_machine(const ExperimentResult& result) {
    return std::any_of(
        result.scenarios.begin(), result.scenarios.end(),
        [](const ScenarioResult& s) { return s.alone_us.has_value(); });
}

bool any_speedup(const ExperimentResult& result) {
    return std::any_of(
        result.scenarios.begin(), result.scenarios.end(),
        [](const ScenarioResult& s) { return s.speedup.has_value(); });
}

/// Result without late ranks, if some are late.
std::string together_line(const ExperimentResult& result) {
    std::string line;
    for (const ScenarioResult& s : result.scenarios) {
        if (!s.together)
            continue;
        line += fmt::format(
            "{}{} {}", line.empty() ? "" : "; ", s.name, time_text(s.together->iteration_us));
        if (s.overlap && s.together->backward_slowdown)
            line += fmt::format(", slowdown {}", percent(*s.together->backward_slowdown));
    }
    return line.empty() ? "" : "With all ranks together: " + line + ".\n";
}

/// The kernels that lost most time, in the first scenario with overlap.
std::string worst_table(const ExperimentResult& result) {
    for (const ScenarioResult& s : result.scenarios) {
        if (s.worst_kernels.empty() || !s.overlap)
            continue;
        constexpr std::size_t kRows = 5;
        constexpr std::size_t kName = 60;
        std::vector<std::vector<std::string>> rows{
            {fmt::format("worst hit in {}", s.name), "class", "isolated", "lost"}};
        for (std::size_t i = 0; i < std::min(kRows, s.worst_kernels.size()); ++i) {
            const WorstKernelResult& k = s.worst_kernels[i];
            rows.push_back(
                {k.name.substr(0, kName), k.kernel_class, time_text(k.isolated_us),
                 time_text(k.lost_us)});
        }
        return "\n" + align_columns(rows);
    }
    return "";
}

/// The first table of runs over many steps: figures of the whole run, a scenario a row; empty if
/// there is none.
std::string runs_table(const ExperimentResult& result) {
    const std::vector<const ScenarioFigures*> scenarios = figures_of(result);
    const std::vector<const Figure*> figures = run_figures(scenarios);
    if (figures.empty())
        return "";
    constexpr double kPercent = 100;  // two decimals: days lose little
    const auto text = [](const Figure& figure, const ScenarioFigures& scenario) {
        const std::optional<double> value = figure.of(scenario);
        return figure.unit == Unit::kShare && value ? fmt::format("{:.2f} %", *value * kPercent)
                                                    : figure_text(figure, value);
    };
    return align_columns(figure_rows(result, "run", figures, text)) +
           "of the whole run; the next table is of one step.\n\n";
}

}  // namespace

std::string step_tables(const ExperimentResult& result) {
    std::string out = runs_table(result);
    out += figures_table(result, true);
    out += intervals_table(result, shown_figures(figures_of(result), true));
    out += slowed_table(result);
    out += learning_table(result);
    out += changes_table(result);
    out += "\nforward, backward: time that the phase's kernels keep a GPU busy; slowdown: of "
           "the backward pass\n"
           "against no overlap, and its causes. Per step, mean over the ranks.";
    if (any_speedup(result))
        out +=
            " Speed-up: of the iteration\nagainst " +
            std::string(
                shares_machine(result) ? "the same workload alone without overlap. Alone: with the "
                                         "rest of the machine idle."
                                       : "the first scenario without overlap.");
    out += "\n";
    if (ranks_wait(result))
        out += "Waiting is for late ranks; the rest of what is exposed is transfer.\n";
    out += together_line(result);
    out += worst_table(result);
    if (result.workload.measured_iteration_us)
        out += fmt::format(
            "The trace's own iteration took {}.\n",
            time_text(*result.workload.measured_iteration_us));
    return out;
}

}  // namespace switchfold
