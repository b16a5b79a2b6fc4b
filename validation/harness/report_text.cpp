// SPDX-License-Identifier: Apache-2.0
#include "sim/output/columns.h"
#include "validation/harness/suite.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::validation {

namespace {

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

/// Four significant digits, never in scientific notation.
std::string value_text(double value) {
    const double size = value < 0 ? -value : value;
    return fmt::format("{:.{}f}", value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

std::string case_table(const std::vector<Case>& cases) {
    const bool intervals =
        std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.low || c.high; });
    std::vector<std::vector<std::string>> rows{{"case", "quantity", "measured"}};
    if (intervals)
        rows[0].emplace_back("interval");
    for (const char* title : {"simulated", "error", "", ""})
        rows[0].emplace_back(title);
    for (const Case& c : cases) {
        const std::string unit = c.unit == "1" ? "" : " " + c.unit;
        std::vector<std::string> row{c.id, c.quantity, value_text(c.measured) + unit};
        if (intervals)
            row.push_back(
                c.low && c.high ? fmt::format("{} to {}", value_text(*c.low), value_text(*c.high))
                                : "");
        row.push_back(value_text(c.simulated) + unit);
        row.push_back(fmt::format("{:+.1f} %", 100 * c.error()));
        row.emplace_back(c.fitted ? "fitted" : "");
        row.push_back(c.how);
        rows.push_back(std::move(row));
    }
    return align_columns(rows);
}

std::string group_table(const std::vector<GroupSummary>& groups, bool fitted) {
    std::vector<std::vector<std::string>> rows{
        {fitted ? "groups that parameters were fitted on" : "groups never used for fitting",
         "cases", "mean absolute error"}};
    for (const GroupSummary& g : groups)
        if (g.fitted == fitted)
            rows.push_back({g.name, fmt::format("{}", g.cases), percent(g.mape)});
    return rows.size() == 1 ? std::string() : "\n" + align_columns(rows);
}

/// A line for each quantity of each group: what it reached, what it may, and what the measurements
/// had to do with the simulator.
std::string verdict_table(const std::vector<GroupVerdict>& verdicts) {
    if (verdicts.empty())
        return {};
    std::vector<std::vector<std::string>> rows{
        {"group", "quantity", "cases", "judged", "error", "at most", "measurements", "first", ""}};
    for (const GroupVerdict& v : verdicts)
        rows.push_back(
            {v.group, v.quantity, fmt::format("{}", v.cases), fmt::format("{}", v.judged),
             v.judged == 0 ? "" : percent(v.error), percent(v.limit),
             std::string(standing_word(v.standing)),
             v.first ? fmt::format("{}, {}", percent(v.first->error), v.first->date) : "",
             v.judged == 0     ? "cannot be judged: the measurements' intervals are too wide"
             : v.kept()        ? "within tolerance"
             : v.known.empty() ? "OUT OF TOLERANCE"
                               : "OUT OF TOLERANCE: " + v.known});
    return "\n" + align_columns(rows);
}

std::string mean_line(const char* what, const std::vector<Case>& cases, bool fitted) {
    std::vector<const Case*> chosen;
    for (const Case& c : cases)
        if (c.fitted == fitted)
            chosen.push_back(&c);
    if (chosen.empty())
        return {};
    return fmt::format("  {}: {} of {} cases\n", what, percent(mape(chosen)), chosen.size());
}

/// One line per table and reason: the ids' first part, and their number.
std::string unmatched_text(const std::vector<Unmatched>& unmatched) {
    if (unmatched.empty())
        return {};
    std::string out = fmt::format("\nnot compared: {}\n", unmatched.size());
    for (std::size_t i = 0; i < unmatched.size();) {
        const auto table = [&](std::size_t at) {
            return unmatched[at].id.substr(0, unmatched[at].id.find('/'));
        };
        std::size_t end = i + 1;
        while (end < unmatched.size() && table(end) == table(i) &&
               unmatched[end].why == unmatched[i].why)
            ++end;
        if (end == i + 1)
            out += fmt::format("  {}: {}\n", unmatched[i].id, unmatched[i].why);
        else
            out += fmt::format("  {} ({} rows): {}\n", table(i), end - i, unmatched[i].why);
        i = end;
    }
    return out;
}

}  // namespace

std::string to_text(const SuiteResult& result) {
    std::string out = fmt::format("{}\n\n", result.name);
    if (!result.skipped.empty())
        return out + fmt::format("skipped: {}\n", result.skipped);
    if (result.cases.empty())
        out += "nothing could be compared\n";
    else
        out += case_table(result.cases);
    const std::vector<GroupSummary> groups = summarise_groups(result.cases);
    out += group_table(groups, false);
    out += group_table(groups, true);
    if (!result.cases.empty()) {
        out += fmt::format(
            "\nmean absolute error over all: {} of {} cases\n", percent(mape(result.cases)),
            result.cases.size());
        out += mean_line("never used for fitting", result.cases, false);
        out += mean_line("fitted on", result.cases, true);
    }
    out += verdict_table(result.groups);
    if (!result.verdicts.empty())
        out += "\n";
    for (const Verdict& v : result.verdicts)
        out += fmt::format(
            "{}: {} {}, at most {}\n", v.kept() ? "within tolerance" : "OUT OF TOLERANCE", v.what,
            percent(v.value), percent(v.limit));
    if (!result.notes.empty())
        out += "\n";
    for (const std::string& note : result.notes)
        out += fmt::format("note: {}\n", note);
    return out + unmatched_text(result.unmatched);
}

}  // namespace switchfold::validation
