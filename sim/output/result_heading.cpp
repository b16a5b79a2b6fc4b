// SPDX-License-Identifier: Apache-2.0
#include "sim/output/result_tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

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

std::string workload_line(const WorkloadResult& w, bool has_ranks) {
    const std::string ranks =
        has_ranks ? fmt::format("{} rank{}, ", w.ranks, w.ranks == 1 ? "" : "s") : "";
    return fmt::format("{}{} step{}, {}", ranks, w.steps, w.steps == 1 ? "" : "s", w.source);
}

/// Parameters that scenarios set, and the resulting workloads.
std::string set_lines(const ExperimentResult& result, bool has_ranks) {
    std::string lines;
    for (const ScenarioResult& s : result.scenarios) {
        if (s.set.empty())
            continue;
        lines += s.name + " sets ";
        for (const auto& [pointer, value] : s.set)
            lines += fmt::format(
                "{}{} = {}", pointer == s.set.begin()->first ? "" : ", ", pointer, value);
        if (s.workload &&
            workload_line(*s.workload, has_ranks) != workload_line(result.workload, has_ranks))
            lines += ": " + workload_line(*s.workload, has_ranks);
        lines += "\n";
    }
    return lines;
}

}  // namespace

std::string result_heading(const ExperimentResult& result, bool has_ranks) {
    std::string out = fmt::format("{}", result.experiment);
    if (result.workload.synthetic)
        out += "  (synthetic workload: no real run behind it)";
    return out + "\n" + workload_line(result.workload, has_ranks) + "\n" +
           set_lines(result, has_ranks) + "\n";
}

std::string note_lines(const ExperimentResult& result) {
    std::string out;
    for (const std::string& note : all_notes(result))
        out += "note: " + note + "\n";
    return out;
}

}  // namespace switchfold
