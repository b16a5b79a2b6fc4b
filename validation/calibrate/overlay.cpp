// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "validation/calibrate/calibrate.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

namespace switchfold::validation {

namespace {

/// The day of the newest file, in UTC: when it was measured at the latest. Today's date would make
/// other bytes of the same input.
std::string day_of(const CalibrationData& data) {
    std::filesystem::file_time_type newest = std::filesystem::file_time_type::min();
    for (const auto* files : {&data.files, &data.traces})
        for (const auto& file : *files)
            newest = std::max(newest, std::filesystem::last_write_time(file));
    const auto system = std::chrono::file_clock::to_sys(newest);
    return fmt::format(
        "{:%Y-%m-%d}",
        fmt::gmtime(std::chrono::system_clock::to_time_t(
            std::chrono::time_point_cast<std::chrono::system_clock::duration>(system))));
}

std::string sources_of(const Observations& data) {
    constexpr std::size_t kNamed = 4;
    const std::size_t named = std::min(kNamed, data.sources.size());
    std::string text = fmt::format(
        "{}", fmt::join(data.sources.begin(), data.sources.begin() + std::ptrdiff_t(named), ", "));
    if (named < data.sources.size())
        text += fmt::format(" and {} more", data.sources.size() - named);
    return text;
}

std::filesystem::path base_of(const CalibrationData& data, const std::filesystem::path& out) {
    const auto folder =
        std::filesystem::weakly_canonical(std::filesystem::absolute(out)).parent_path();
    return std::filesystem::weakly_canonical(data.system).lexically_proximate(folder);
}

}  // namespace

std::string overlay_text(
    const Calibration& calibration, const CalibrationData& data, const std::filesystem::path& out) {
    OrderedJson json{{"$base", base_of(data, out).string()}, {"name", out.stem().string()}};
    const std::string day = day_of(data);
    const std::string sources = sources_of(calibration.data);
    for (const CalibratedKnob& knob : calibration.knobs) {
        if (knob.logarithm == 0)
            continue;
        for (const Turned& parameter : knob.dial.parameters) {
            const std::size_t slash = parameter.pointer.rfind('/');
            const OrderedJson::json_pointer at(parameter.pointer);
            json[at] = parameter.at(std::exp(knob.logarithm));
            OrderedJson& object = json[at.parent_pointer()];
            object["$source"][parameter.pointer.substr(slash + 1)] = fmt::format(
                "fitted by switchfold calibrate on {} ({}): {} x {:.3f} +- {:.0f} %; what was left "
                "out is {:.1f} % off, {:.1f} before",
                sources, day, knob.dial.knob->name, std::exp(knob.logarithm), knob.deviation * 100,
                calibration.left_out.after * 100, calibration.left_out.before * 100);
        }
    }
    return json.dump(2) + "\n";
}

}  // namespace switchfold::validation
