// SPDX-License-Identifier: Apache-2.0
#include "sim/output/learning_text.h"

#include "core/csv.h"
#include "sim/output/columns.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace switchfold {

namespace {

/// Rounded to significant digits; large numbers are written out.
std::string rounded(double value, int digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    constexpr double kReadable = 1e7;
    if (text.find("e+") != std::string::npos && std::abs(value) < kReadable)
        text = fmt::format("{:.0f}", std::strtod(text.c_str(), nullptr));
    return text;
}

std::string mean_text(const SeedMean& value, double scale = 1) {
    constexpr int kDigits = 4;
    constexpr int kDigitsOfWidth = 2;
    if (!value.half_width)
        return rounded(value.mean * scale, kDigits);
    return fmt::format(
        "{} +- {}", rounded(value.mean * scale, kDigits),
        rounded(*value.half_width * scale, kDigitsOfWidth));
}

/// Value to print; no mean is given unless every seed reached the target.
std::string target_text(
    const LearningResult& learning, const std::optional<SeedMean>& value, double scale = 1) {
    if (!learning.target)
        return "-";
    if (value)
        return mean_text(*value, scale);
    if (learning.reached == 0)
        return "never";
    return fmt::format("{} of {} seeds", learning.reached, learning.seeds.size());
}

std::string final_text(const LearningResult& learning) {
    if (learning.final_loss)
        return mean_text(*learning.final_loss);
    return fmt::format("{} of {} diverged", learning.diverged, learning.seeds.size());
}

/// The stage whose forwards miss the most updates.
std::string missed_text(const LearningResult& learning) {
    double missed = 0;
    for (const LearningStageResult& stage : learning.stages)
        missed = std::max(missed, stage.forward_missed);
    return fmt::format("{:.3g}", missed);
}

/// Seeds that diverged, by name.
std::string divergence_lines(const ScenarioResult& scenario) {
    std::string lines;
    for (const LearningSeedResult& seed : scenario.learning->seeds)
        if (seed.diverged_at)
            lines += fmt::format(
                "{}: seed {} diverged at step {}, learning rate {:g}\n", scenario.name, seed.seed,
                *seed.diverged_at, scenario.learning->learning_rate);
    return lines;
}

std::string ratio_text(const std::optional<SeedMean>& ratio) {
    return ratio ? mean_text(*ratio) : "-";
}

/// Compares each scenario with the same seeds of another; a common reference is named in one line.
std::string comparison_table(const ExperimentResult& result) {
    std::vector<std::vector<std::string>> rows{
        {"against the same seeds", "of", "final loss", "steps", "time to target", "gap closed"}};
    for (const ScenarioResult& s : result.scenarios) {
        if (!s.learning || !s.learning->comparison)
            continue;
        const LearningComparison& comparison = *s.learning->comparison;
        rows.push_back(
            {s.name, comparison.with, ratio_text(comparison.loss_ratio),
             ratio_text(comparison.steps_ratio), ratio_text(comparison.seconds_ratio),
             ratio_text(comparison.gap_closed)});
    }
    if (rows.size() == 1)
        return {};
    if (std::none_of(rows.begin() + 1, rows.end(), [](const auto& row) { return row[5] != "-"; }))
        for (std::vector<std::string>& row : rows)
            row.pop_back();
    return "\n" + align_columns(rows) +
           "ratios of each seed's figures, mean and 95 % interval: 1 outside of it differs.\n";
}

/// Members that joined and left, and whether all were equal afterwards.
std::string membership_lines(const ScenarioResult& scenario) {
    std::string lines;
    for (const MembershipRow& row : scenario.learning->membership)
        lines += fmt::format(
            "{}: after step {} {} members ({} joined, {} left), {}\n", scenario.name, row.step,
            row.members, row.joined, row.left,
            row.identical ? "weights and moments bit-identical" : "which differ");
    return lines;
}

}  // namespace

std::string learning_table(const ExperimentResult& result) {
    std::vector<std::vector<std::string>> rows{
        {"learning", "weights", "missed", "final loss", "steps to target", "ms to target",
         "us a step"}};
    std::string lines;
    const LearningResult* first = nullptr;
    for (const ScenarioResult& s : result.scenarios) {
        if (!s.learning)
            continue;
        const LearningResult& learning = *s.learning;
        first = first == nullptr ? &learning : first;
        constexpr double kMilliseconds = 1e3;  // in a second
        rows.push_back(
            {s.name, learning.weights, missed_text(learning), final_text(learning),
             target_text(learning, learning.steps_to_target),
             target_text(learning, learning.seconds_to_target, kMilliseconds),
             fmt::format("{:.1f}", learning.step_us)});
        lines += divergence_lines(s) + membership_lines(s);
    }
    if (first == nullptr)
        return {};
    std::string about =
        fmt::format("loss of a small network, learning rate {:g}", first->learning_rate);
    if (first->target)
        about += fmt::format(", target {:g}", *first->target);
    about += fmt::format(
        "; mean of {} seed{} and 95 % interval;\nmissed: updates that forwards of the stalest "
        "stage "
        "miss; simulated time.\n",
        first->seeds.size(), first->seeds.size() == 1 ? "" : "s");
    return "\n" + align_columns(rows) + about + lines + comparison_table(result);
}

std::string learning_csv_header() {
    return "scenario,seed,step,seconds,loss\n";
}

std::string learning_csv_line(std::string_view scenario, const LossRow& row) {
    return fmt::format(
        "{},{},{},{:.9g},{:.9g}\n", csv_field(scenario), row.seed, row.step, row.seconds, row.loss);
}

std::string version_csv_header() {
    return "scenario,pass,micro_batch,stage,version,predicted_ahead,batch_order,at_round_trip\n";
}

std::string version_csv_line(std::string_view scenario, const VersionRow& row) {
    return fmt::format(
        "{},{},{},{},{},{:g},{},{}\n", csv_field(scenario), row.forward ? "forward" : "backward",
        row.micro_batch, row.stage, row.version, row.ahead, row.batch_order, row.round_trip);
}

}  // namespace switchfold
