// SPDX-License-Identifier: Apache-2.0
#include "core/csv.h"
#include "core/units.h"
#include "sim/output/changes_text.h"
#include "sim/output/columns.h"
#include "sim/output/figures.h"
#include "sim/output/learning_text.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

std::string time_text(double us) {
    constexpr double kSecond = 1e6;
    if (us >= 10 * kSecond)
        return fmt::format("{:.2f} s", us / kSecond);
    if (us >= 100'000)
        return fmt::format("{:.1f} ms", us / 1000);
    if (us >= 10'000)
        return fmt::format("{:.2f} ms", us / 1000);
    return fmt::format("{:.1f} us", us);
}

std::string percent(double share) {
    const double value = share * 100;
    return fmt::format("{:.1f} %", std::abs(value) < 0.05 ? 0.0 : value);
}

std::string figure_text(const Figure& figure, std::optional<double> value) {
    if (!value)
        return "-";
    if (figure.unit == Unit::kFactor)
        return fmt::format("{:.2f}x", *value);
    constexpr int kOfACount = 3;  // more decimals: no count, and of any size
    if (figure.unit == Unit::kCount && figure.decimals > kOfACount)
        return fmt::format("{:.4g}", *value);
    if (figure.unit == Unit::kCount)
        return fmt::format("{:.{}f}", *value, std::min(figure.decimals, 1));
    if (figure.unit == Unit::kBytes)
        return fmt::format("{:.1f} MiB", *value / static_cast<double>(mebibytes(1).count()));
    return figure.unit == Unit::kMicroseconds ? time_text(*value) : percent(*value);
}

/// A scenario's figure; both ends where it is the upper end of a range.
std::string figure_text(const Figure& figure, const ScenarioFigures& scenario) {
    const std::string text = figure_text(figure, figure.of(scenario));
    if (figure.low == nullptr || !(scenario.*figure.low))
        return text;
    const std::string low = figure_text(figure, scenario.*figure.low);
    return low == text ? text : fmt::format("{} to {}", low.substr(0, low.find(' ')), text);
}

/// "12.1 to 13.4 ms": the unit once, where both ends have the same.
std::string range_text(const std::string& low, const std::string& high) {
    if (low == high)
        return high;
    const auto unit_of = [](const std::string& text) {
        const std::size_t at = text.find_first_not_of("-0123456789.");
        return at == std::string::npos ? std::string() : text.substr(at);
    };
    const std::string unit = unit_of(high);
    return fmt::format(
        "{} to {}", unit_of(low) == unit ? low.substr(0, low.size() - unit.size()) : low, high);
}

std::string interval_text(const Figure& figure, const ScenarioFigures& scenario) {
    const FigureInterval* const interval = interval_of(figure, scenario);
    if (interval == nullptr || !interval->low)
        return "-";
    return range_text(figure_text(figure, interval->low), figure_text(figure, interval->high));
}

/// Notes of the workload and the scenarios; a note common to all scenarios appears once.
std::vector<std::string> all_notes(const ExperimentResult& result) {
    std::vector<std::string> notes = result.workload.notes;
    const auto in_all = [&](const std::string& note) {
        return std::all_of(
            result.scenarios.begin(), result.scenarios.end(), [&](const ScenarioResult& s) {
                return std::find(s.notes.begin(), s.notes.end(), note) != s.notes.end();
            });
    };
    for (const ScenarioResult& s : result.scenarios)
        if (s.workload)
            for (const std::string& note : s.workload->notes)
                if (std::find(notes.begin(), notes.end(), note) == notes.end())
                    notes.push_back(s.name + ": " + note);
    for (const ScenarioResult& s : result.scenarios)
        for (const std::string& note : s.notes)
            if (!in_all(note))
                notes.push_back(s.name + ": " + note);
            else if (&s == &result.scenarios.front())
                notes.push_back(note);
    return notes;
}

/// Whether ranks wait for late ones longer than the skew of a few ring steps explains.
bool ranks_wait(const ExperimentResult& result) {
    return std::any_of(
        result.scenarios.begin(), result.scenarios.end(),
        [](const ScenarioResult& s) { return is_noticeable(s.waiting_us, s); });
}

std::string workload_line(const WorkloadResult& w) {
    // A coprocessor runs one process.
    const std::string ranks =
        w.type == "many_core" ? "" : fmt::format("{} rank{}, ", w.ranks, w.ranks == 1 ? "" : "s");
    return fmt::format("{}{} step{}, {}", ranks, w.steps, w.steps == 1 ? "" : "s", w.source);
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

/// Parameters that scenarios set, and the resulting workloads.
std::string set_lines(const ExperimentResult& result) {
    std::string lines;
    for (const ScenarioResult& s : result.scenarios) {
        if (s.set.empty())
            continue;
        lines += s.name + " sets ";
        for (const auto& [pointer, value] : s.set)
            lines += fmt::format(
                "{}{} = {}", pointer == s.set.begin()->first ? "" : ", ", pointer, value);
        if (s.workload && workload_line(*s.workload) != workload_line(result.workload))
            lines += ": " + workload_line(*s.workload);
        lines += "\n";
    }
    return lines;
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

}  // namespace

std::string kernel_csv_header() {
    return "scenario,rank,stream,name,class,phase,start_us,duration_us,isolated_us,slowdown,"
           "overlapped_share,bytes_read,bytes_written,flops\n";
}

std::string kernel_csv_line(std::string_view scenario, const KernelRow& row) {
    double slowdown = row.isolated_us > 0 ? row.duration_us / row.isolated_us - 1.0 : 0.0;
    if (std::abs(slowdown) < 5e-7)
        slowdown = 0;  // avoids "-0.000000"
    return fmt::format(
        "{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.4f},{},{},{:.0f}\n", csv_field(scenario),
        row.rank, csv_field(row.stream), csv_field(row.name), row.kernel_class, row.phase,
        row.start_us, row.duration_us, row.isolated_us, slowdown, row.overlapped_share,
        row.bytes_read, row.bytes_written, row.flops);
}

std::string pass_csv_header() {
    return "scenario,rank,pass,phase,start_us,duration_us\n";
}

std::string pass_csv_line(std::string_view scenario, const PassRow& row) {
    return fmt::format(
        "{},{},{},{},{:.6f},{:.6f}\n", csv_field(scenario), row.rank, csv_field(row.pass),
        row.phase, row.start_us, row.duration_us);
}

std::string memory_csv_header() {
    std::string header = "scenario,rank,time_us";
    for (const MemoryClassText& memory : kMemoryClasses)
        header.append(",").append(memory.name);
    return header + "\n";
}

std::string memory_csv_line(std::string_view scenario, const MemoryRow& row) {
    std::string line = fmt::format("{},{},{:.6f}", csv_field(scenario), row.rank, row.time_us);
    for (const MemoryClassText& memory : kMemoryClasses)
        line += fmt::format(",{:.0f}", row.bytes[memory.value]);
    return line + "\n";
}

std::string counter_csv_header() {
    return "scenario,track,time_us,value\n";
}

std::string counter_csv_line(std::string_view scenario, const CounterSample& sample) {
    return fmt::format(
        "{},{},{:.6f},{:.3f}\n", csv_field(scenario), csv_field(sample.track), sample.time_us,
        sample.value);
}

namespace {

std::vector<const ScenarioFigures*> figures_of(const ExperimentResult& result) {
    std::vector<const ScenarioFigures*> scenarios;
    for (const ScenarioResult& s : result.scenarios)
        scenarios.push_back(&s);
    return scenarios;
}

/// The first table of runs over many steps: figures of the whole run, a scenario a row; empty if
/// there is none.
std::string runs_table(const ExperimentResult& result) {
    const std::vector<const ScenarioFigures*> scenarios = figures_of(result);
    const std::vector<const Figure*> figures = run_figures(scenarios);
    if (figures.empty())
        return "";
    constexpr double kPercent = 100;  // two decimals: days lose little
    std::vector<std::vector<std::string>> rows{{"run"}};
    for (const Figure* figure : figures)
        rows[0].emplace_back(figure->title);
    for (const ScenarioResult& s : result.scenarios) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(s.name);
        for (const Figure* figure : figures)
            row.push_back(
                figure->unit == Unit::kShare && figure->of(s)
                    ? fmt::format("{:.2f} %", *figure->of(s) * kPercent)
                    : figure_text(*figure, figure->of(s)));
    }
    return align_columns(rows) + "of the whole run; the next table is of one step.\n\n";
}

/// One row per scenario: its figures, and on GPUs the causes of its slowdown.
std::string figures_table(const ExperimentResult& result, bool of_gpus) {
    const std::vector<const ScenarioFigures*> scenarios = figures_of(result);
    const std::vector<const Figure*> figures = shown_figures(scenarios, of_gpus);
    std::vector<const SlowdownByCause*> known;
    for (const ScenarioFigures* s : scenarios)
        if (s->causes)
            known.push_back(&*s->causes);
    const auto causes = of_gpus ? shown_causes(known) : std::vector<const Cause*>();
    std::vector<std::vector<std::string>> rows{{"scenario"}};
    for (const Figure* figure : figures)
        rows[0].emplace_back(figure->title);
    for (const Cause* cause : causes)
        rows[0].emplace_back(cause->key);
    for (const ScenarioFigures* s : scenarios) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(s->name);
        for (const Figure* figure : figures)
            row.push_back(figure_text(*figure, *s));
        for (const Cause* cause : causes)
            row.push_back(s->causes ? percent((*s->causes).*cause->member) : "-");
    }
    return align_columns(rows);
}

/// A row for each loop of kernels beside a loop of collectives.
std::string loops_table(const ExperimentResult& result) {
    const std::vector<const Figure*> figures = loop_figures();
    std::vector<std::vector<std::string>> rows{{"scenario"}};
    for (const Figure* figure : figures)
        rows[0].emplace_back(figure->title);
    for (const ScenarioResult& s : result.scenarios) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(s.name);
        for (const Figure* figure : figures)
            row.push_back(figure_text(*figure, s));
    }
    return align_columns(rows);
}

/// The intervals of a table's figures; empty if no scenario has one of them.
std::string
intervals_table(const ExperimentResult& result, const std::vector<const Figure*>& figures) {
    std::vector<const Figure*> known;
    for (const Figure* figure : figures)
        if (std::any_of(
                result.scenarios.begin(), result.scenarios.end(), [&](const ScenarioResult& s) {
                    const FigureInterval* const interval = interval_of(*figure, s);
                    return interval != nullptr && interval->low;
                }))
            known.push_back(figure);
    if (known.empty())
        return "";
    std::vector<std::vector<std::string>> rows{{"90 % of such cases"}};
    for (const Figure* figure : known)
        rows[0].emplace_back(figure->title);
    for (const ScenarioResult& s : result.scenarios) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(s.name);
        for (const Figure* figure : known)
            row.push_back(interval_text(*figure, s));
    }
    return "\n" + align_columns(rows);
}

/// The same of collectives' times and bandwidths.
std::string collective_intervals_table(const ExperimentResult& result) {
    std::vector<std::vector<std::string>> rows{
        {"90 % of such cases", "time", "algorithm GB/s", "bus GB/s"}};
    bool known = false;
    for (const ScenarioResult& s : result.scenarios)
        for (const CollectiveResult& c : s.collectives) {
            std::vector<std::string>& row = rows.emplace_back();
            row.push_back(s.collectives.size() == 1 ? s.name : s.name + " " + c.name);
            for (const char* key : {"time_us", "algorithm_bandwidth_GBps", "bus_bandwidth_GBps"}) {
                const auto at = c.intervals.find(key);
                const bool has = at != c.intervals.end() && at->second.low;
                known = known || has;
                const bool time = at != c.intervals.end() && at->first == "time_us";
                const auto text = [&](double value) {
                    return time ? time_text(value) : fmt::format("{:.1f}", value);
                };
                row.push_back(
                    has ? range_text(text(*at->second.low), text(*at->second.high)) : "-");
            }
        }
    return known ? "\n" + align_columns(rows) : "";
}

/// What a scenario's intervals rest on: those of its time, which is of all its parts.
std::string basis_of(const ScenarioResult& s) {
    for (const CollectiveResult& c : s.collectives)
        if (const auto at = c.intervals.find("time_us"); at != c.intervals.end())
            return at->second.like;
    const auto at = s.intervals.find("iteration_us");
    return at == s.intervals.end() ? "" : at->second.like;
}

/// What intervals rest on: a line for all scenarios with the same basis.
std::string basis_lines(const ExperimentResult& result) {
    std::vector<std::pair<std::string, std::string>> lines;  // basis, scenarios
    for (const ScenarioResult& s : result.scenarios) {
        const std::string basis = basis_of(s);
        if (basis.empty())
            continue;
        const auto same = std::find_if(
            lines.begin(), lines.end(), [&](const auto& line) { return line.first == basis; });
        if (same == lines.end())
            lines.emplace_back(basis, s.name);
        else
            same->second += ", " + s.name;
    }
    std::string text;
    for (const auto& [basis, scenarios] : lines)
        text += fmt::format(
            "intervals{}: {}{}\n", lines.size() == 1 ? "" : " of " + scenarios,
            basis.starts_with("unmeasured") ? "" : "90 % of ", basis);
    return text;
}

std::string slowdown_text(const SlowedPart& part, const ScenarioFigures& scenario) {
    const auto* const figure =
        std::find_if(std::begin(kFigures), std::end(kFigures), [&](const Figure& f) {
            const auto* const own =
                std::get_if<std::optional<double> ScenarioFigures::*>(&f.member);
            return own != nullptr && *own == part.slowdown;
        });
    return figure_text(*figure, scenario);
}

/// The causes of what is slowed beside the backward pass, if anything is.
std::string slowed_table(const ExperimentResult& result) {
    const std::vector<const ScenarioFigures*> scenarios = figures_of(result);
    const std::vector<SlowedRow> slowed = slowed_rows(scenarios);
    if (slowed.empty())
        return "";
    std::vector<const SlowdownByCause*> known;
    for (const SlowedRow& row : slowed)
        known.push_back(&*(row.scenario->*row.part->causes));
    const std::vector<const Cause*> causes = shown_causes(known);
    std::vector<std::vector<std::string>> rows{{"scenario", "slowed", "slowdown"}};
    for (const Cause* cause : causes)
        rows[0].emplace_back(cause->key);
    for (std::size_t i = 0; i < slowed.size(); ++i) {
        const auto& [scenario, part] = slowed[i];
        std::vector<std::string>& row = rows.emplace_back();
        row = {scenario->name, std::string(part->title), slowdown_text(*part, *scenario)};
        for (const Cause* cause : causes)
            row.push_back(percent(known[i]->*cause->member));
    }
    return "\n" + align_columns(rows);
}

}  // namespace

std::string to_table(const ExperimentResult& result) {
    const WorkloadResult& w = result.workload;
    std::string out = fmt::format("{}", result.experiment);
    if (w.synthetic)
        out += "  (synthetic workload: no real run behind it)";
    out += "\n" + workload_line(w) + "\n" + set_lines(result) + "\n";
    if (w.type == "collective") {
        std::vector<std::vector<std::string>> rows{
            {"scenario", "algorithm", "protocol", "blocks", "time", "algorithm GB/s", "bus GB/s"}};
        for (const ScenarioResult& s : result.scenarios)
            for (const CollectiveResult& c : s.collectives)
                rows.push_back(
                    {s.name, c.algorithm, c.protocol, fmt::format("{}", c.channels),
                     time_text(c.time_us), fmt::format("{:.1f}", c.algorithm_bandwidth_GBps),
                     fmt::format("{:.1f}", c.bus_bandwidth_GBps)});
        out += align_columns(rows);
        out += collective_intervals_table(result);
    } else if (w.type == "experts") {
        std::vector<std::vector<std::string>> rows{
            {"scenario", "exchange", "library", "SMs", "time", "GB/s"}};
        for (const ScenarioResult& s : result.scenarios)
            for (const CollectiveResult& c : s.collectives)
                rows.push_back(
                    {s.name, c.name, c.algorithm, fmt::format("{}", c.channels),
                     time_text(c.time_us), fmt::format("{:.1f}", c.algorithm_bandwidth_GBps)});
        out += align_columns(rows);
        out += collective_intervals_table(result);
        out += "\n"
               "GB/s: what the busiest rank sends or gets, its own tokens included.\n";
    } else if (w.type == "many_core") {
        out += figures_table(result, false);
        out +=
            "\nforward, backward: the phase's parallel regions. Per step. Speed-up: in samples per "
            "second, over\nthe first scenario without overlap.\n";
    } else if (w.type == "kernel_beside_collective") {
        out += loops_table(result);
        out += intervals_table(result, loop_figures());
        out += slowed_table(result);
        out += "\nalone, beside: time of one, in its loop alone and beside the other loop. "
               "iteration: until "
               "both loops\nhave ended. Speed-up: against one loop after the other.\n";
    } else {
        out += runs_table(result);
        out += figures_table(result, true);
        out += intervals_table(result, shown_figures(figures_of(result), true));
        out += slowed_table(result);
        out += learning_table(result);
        out += changes_table(result);
        out += "\nforward, backward: time that the phase's kernels keep a GPU busy; slowdown: of "
               "the backward pass\n"
               "against no overlap, and its causes. Per step, mean over the ranks.";
        if (any_speedup(result))
            out += " Speed-up: of the iteration\nagainst " +
                   std::string(
                       shares_machine(result)
                           ? "the same workload alone without overlap. Alone: with the "
                             "rest of the machine idle."
                           : "the first scenario without overlap.");
        out += "\n";
        if (ranks_wait(result))
            out += "Waiting is for late ranks; the rest of what is exposed is transfer.\n";
        out += together_line(result);
        out += worst_table(result);
        if (w.measured_iteration_us)
            out += fmt::format(
                "The trace's own iteration took {}.\n", time_text(*w.measured_iteration_us));
    }
    out += basis_lines(result);
    for (const std::string& note : all_notes(result))
        out += "note: " + note + "\n";
    return out;
}

}  // namespace switchfold
