// SPDX-License-Identifier: Apache-2.0
#include "sim/output/changes_text.h"

#include "core/csv.h"
#include "sim/output/columns.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace switchfold {

namespace {

std::string seconds_text(double seconds) {
    constexpr double kMinutes = 600;
    constexpr double kMilli = 1e3;
    if (seconds == 0)
        return "0";
    if (seconds < 1)
        return fmt::format("{:.3g} ms", seconds * kMilli);
    return seconds < kMinutes ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

/// "64 to 56".
std::string sizes(const ChangeResult& change) {
    return fmt::format("{} to {}", change.from, change.to);
}

/// Transfer of the state beside a step: its time, and the available window.
std::string transfer_text(const ChangeResult& change) {
    if (!change.joining)
        return "-";
    constexpr double kMilli = 1e3;
    return fmt::format(
        "{:.1f} of {:.1f} ms{}", change.joining->transfer_s * kMilli,
        change.joining->window_s * kMilli, change.joining->fits ? "" : ", too long");
}

/// Table of steps that copy state to hosts; empty if there are none.
std::string checkpoints_table(const ExperimentResult& result) {
    std::vector<std::vector<std::string>> rows{
        {"checkpoint step", "members", "alone", "with the copy", "copied", "members wait",
         "written"}};
    for (const ScenarioResult& s : result.scenarios) {
        if (!s.changes)
            continue;
        for (const CheckpointStepResult& step : s.changes->checkpoint_steps)
            rows.push_back(
                {s.name, fmt::format("{}", step.members), seconds_text(step.alone_s),
                 seconds_text(step.step_s), seconds_text(step.copied_s), seconds_text(step.wait_s),
                 seconds_text(step.written_s)});
    }
    if (rows.size() == 1)
        return {};
    return "\n" + align_columns(rows) +
           "copied, written: from the begin of the step until hosts, and until the storage have "
           "the state.\n";
}

}  // namespace

std::string changes_table(const ExperimentResult& result) {
    std::vector<std::vector<std::string>> rows{
        {"change", "at", "method", "members", "pause", "to size", "GPU-s lost", "slower step",
         "training lost", "state"}};
    for (const ScenarioResult& s : result.scenarios) {
        if (!s.changes)
            continue;
        for (const ChangeResult& change : s.changes->changes)
            rows.push_back(
                {s.name, seconds_text(change.asked_s), change.method, sizes(change),
                 seconds_text(change.pause_s),
                 change.reached ? seconds_text(change.to_size_s) : "not reached",
                 fmt::format("{:.2f}", change.gpu_seconds_lost), seconds_text(change.slowdown_s),
                 seconds_text(change.lost_s), transfer_text(change)});
    }
    std::string out;
    if (rows.size() > 1)
        out = "\n" + align_columns(rows) +
              "pause: of the old members; to size: from the request to the first step at the new "
              "size; slower step:\nthe one beside which a join's state travels; state: its time "
              "of the time in which it is constant.\n";
    return out + checkpoints_table(result);
}

std::string changes_csv_header() {
    return "scenario,cause,method,members_before,members_after,asked_s,stopped_s,resumed_s,pause_s,"
           "time_to_size_s,gpu_seconds_lost,slowdown_of_joining_step_s,lost_training_s,lost_steps,"
           "transfer_s,window_s\n";
}

std::string changes_csv_line(std::string_view scenario, const ChangeResult& change) {
    return fmt::format(
        "{},{},{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{}\n",
        csv_field(scenario), change.cause, change.method, change.from, change.to, change.asked_s,
        change.stopped_s, change.resumed_s, change.pause_s, change.to_size_s,
        change.gpu_seconds_lost, change.slowdown_s, change.lost_s, change.lost_steps,
        change.joining ? fmt::format("{:.9g}", change.joining->transfer_s) : "",
        change.joining ? fmt::format("{:.9g}", change.joining->window_s) : "");
}

std::string members_csv_header() {
    return "scenario,begin_s,end_s,members,kind,steps,step_us,samples_per_s\n";
}

std::string members_csv_line(std::string_view scenario, const RunStretchResult& stretch) {
    return fmt::format(
        "{},{:.9g},{:.9g},{},{},{},{:.9g},{:.9g}\n", csv_field(scenario), stretch.begin_s,
        stretch.end_s, stretch.members, stretch.kind, stretch.steps, stretch.step_us,
        stretch.samples_per_s);
}

}  // namespace switchfold
