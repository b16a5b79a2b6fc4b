// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold::validation {

namespace {

std::string change_text(const ErrorChange& change) {
    if (change.points == 0)
        return fmt::format("{:>6}{:>9}{:>9}", "-", "", "");
    return fmt::format(
        "{:>6}{:>7.1f} %{:>7.1f} %", change.points, change.before * 100, change.after * 100);
}

std::string plain(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string errors_text(const Calibration& calibration) {
    constexpr const char* kLine = "{:<50}{}   {}\n";
    std::string text = fmt::format(
        "\n{:<50}{:>24}   {:>24}\n{:<50}{:>6}{:>9}{:>9}   {:>6}{:>9}{:>9}\n",
        "mean absolute errors", "fitted", "left out to check", "", "points", "before", "after",
        "points", "before", "after");
    for (const GroupErrors& group : calibration.groups)
        text += fmt::format(
            kLine, "  " + group.name(), change_text(group.fitted), change_text(group.left_out));
    return text +
           fmt::format(
               kLine, "  all", change_text(calibration.fitted), change_text(calibration.left_out));
}

std::string knobs_text(const Calibration& calibration) {
    std::string text = "\nparameters\n";
    std::string untold;
    for (const CalibratedKnob& knob : calibration.knobs) {
        if (!knob.told) {
            untold += fmt::format("  {:<24} {}\n", knob.dial.knob->name, knob.dial.knob->tells);
            continue;
        }
        constexpr double kFar = 2.5;  // deviations
        text += fmt::format(
            "  {:<24} x {:.3f} +- {:.0f} % ({:.0f} % before){}\n", knob.dial.knob->name,
            std::exp(knob.logarithm), knob.deviation * 100, knob.dial.knob->sigma * 100,
            std::abs(knob.logarithm) > kFar * knob.dial.knob->sigma
                ? "; far from what is usual: is the system the right one?"
                : "");
        if (knob.logarithm == 0)
            continue;
        for (const Turned& parameter : knob.dial.parameters)
            text += fmt::format(
                "    {:<46} {:>12} -> {}\n", parameter.pointer, plain(parameter.at(1)),
                plain(parameter.at(std::exp(knob.logarithm))));
    }
    if (!untold.empty())
        text += "not determined by these data, and left as they are; what would determine them\n" +
                untold;
    return text;
}

std::string verdict_text(const Calibration& calibration) {
    std::string text;
    if (calibration.verdict == CalibrationVerdict::kNothing)
        text = "\nthe shipped values are within these data's scatter: nothing is written\n";
    if (calibration.verdict == CalibrationVerdict::kUnexplained) {
        text = "\nno parameter set explains the data: nothing is written\n";
        if (calibration.left_out.after > calibration.left_out.before + kWorseAllowed)
            text += fmt::format(
                "  what fits one half of the sizes makes the other worse: {:.1f} %, {:.1f} "
                "before\n",
                calibration.left_out.after * 100, calibration.left_out.before * 100);
        if (much_is_far(calibration))
            text += "  what fits best leaves a quarter of the points at twice the usual error\n";
        for (const GroupErrors& group : calibration.groups)
            if (group.paid())
                text += fmt::format(
                    "  what brings others nearer takes {} from {:.0f} to {:.0f} %\n", group.name(),
                    group.left_out.before * 100, group.left_out.after * 100);
    }
    std::string far;
    for (const GroupErrors& group : calibration.groups)
        if (group.left_out.points > 0 && group.left_out.after > group.limit)
            far += fmt::format(
                "  {}: {:.0f} % of error is left, {:.0f} are usual\n", group.name(),
                group.left_out.after * 100, group.limit * 100);
    return far.empty() ? text : text + "\nnot explained within the bounds\n" + far;
}

}  // namespace

std::string points_text(const Calibration& calibration) {
    std::string text = "group,size,half,measured_us,before_us,after_us\n";
    for (const PointTimes& times : calibration.times) {
        const CalibrationPoint& point = calibration.data.points[times.point];
        text += fmt::format(
            "{},{:.0f},{},{:.3f},{:.3f},{:.3f}\n", point.group, point.size,
            point.fitted ? "fitted" : "left_out", point.measured_us, times.before, times.after);
    }
    return text;
}

std::string to_text(const Calibration& calibration) {
    const Observations& data = calibration.data;
    std::string text = fmt::format(
        "{}: {} rows of {} tables and logs, {} points fitted, {} left out to check\n",
        calibration.system, data.rows, data.sources.size(), calibration.fitted.points,
        calibration.left_out.points);
    for (const std::string& note : data.notes)
        text += "  note: " + note + "\n";
    constexpr std::size_t kShown = 10;
    for (std::size_t i = 0; i < std::min(kShown, data.left_out.size()); ++i)
        text += fmt::format("  not used: {}: {}\n", data.left_out[i].id, data.left_out[i].why);
    if (data.left_out.size() > kShown)
        text += fmt::format("  not used: {} more rows\n", data.left_out.size() - kShown);
    text += errors_text(calibration) + knobs_text(calibration);
    return text + verdict_text(calibration);
}

}  // namespace switchfold::validation
