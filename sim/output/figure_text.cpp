// SPDX-License-Identifier: Apache-2.0
#include "sim/output/figure_text.h"

#include "core/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold {

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

std::string figure_text(const Figure& figure, const ScenarioFigures& scenario) {
    const std::string text = figure_text(figure, figure.of(scenario));
    if (figure.low == nullptr || !(scenario.*figure.low))
        return text;
    const std::string low = figure_text(figure, scenario.*figure.low);
    return low == text ? text : fmt::format("{} to {}", low.substr(0, low.find(' ')), text);
}

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

}  // namespace switchfold
