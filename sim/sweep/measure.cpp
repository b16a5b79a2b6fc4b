// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/measure.h"

#include "core/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace switchfold {

namespace {

constexpr double kPsPerUs = 1e6;
constexpr double kGiga = 1e9;

/// Parses the text with one of the units' parsers, which throw on failure.
template <class Parse>
std::optional<Measure>
attempt(std::string_view text, MeasureKind kind, double scale, const Parse& parse) {
    try {
        const std::uint64_t count = parse(text).count();
        return Measure{kind, count, static_cast<double>(count) / scale};
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

std::optional<Measure> parse_number(std::string_view text) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
        return std::nullopt;
    return Measure{MeasureKind::kNumber, 0, number};
}

std::string measure_text(MeasureKind kind, std::uint64_t count) {
    switch (kind) {
    case MeasureKind::kBytes:
        return to_string(Bytes(count));
    case MeasureKind::kTime:
        return to_string(Time(count));
    case MeasureKind::kBandwidth:
        return to_string(Bandwidth(count));
    default:
        return to_string(Frequency(count));
    }
}

/// Whole numbers stay integers: counts do not accept 8.0.
Json json_number(double number) {
    constexpr double kWhole = 9.0e15;
    if (number == std::floor(number) && std::abs(number) < kWhole)
        return static_cast<std::int64_t>(number);
    return number;
}

[[noreturn]] void fail(std::string_view text, std::string_view what) {
    throw std::invalid_argument(fmt::format(
        "is \"{}\", {}; expected FROM..TO xN or FROM..TO +STEP such as \"1 KiB..4 GiB x2\"", text,
        what));
}

std::string_view trimmed(std::string_view text) {
    while (text.ends_with(' '))
        text.remove_suffix(1);
    while (text.starts_with(' '))
        text.remove_prefix(1);
    return text;
}

struct Range {
    Measure from;
    Measure to;
    bool times = false;
    Measure step;
};

Range parse_range(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos)
        fail(text, "which has no \"..\"");
    const std::string_view rest = text.substr(dots + 2);
    const std::size_t mark = rest.find_last_of("x+");
    if (mark == std::string_view::npos)
        fail(text, "which has no step");
    const auto from = parse_measure(trimmed(text.substr(0, dots)));
    const auto to = parse_measure(trimmed(rest.substr(0, mark)));
    const auto step = parse_measure(trimmed(rest.substr(mark + 1)));
    if (!from || !to || !step)
        fail(text, "of which a part is not a number");
    if (from->kind != to->kind)
        fail(text, "whose ends are of different kinds");
    if (to->number < from->number)
        fail(text, "which ends below its start");
    const Range range{*from, *to, rest[mark] == 'x', *step};
    if (range.times && (step->kind != MeasureKind::kNumber || step->number < 2 ||
                        step->number != std::floor(step->number)))
        fail(text, "whose factor is not a whole number of at least 2");
    if (range.times && from->number <= 0)
        fail(text, "which multiplies a start that is not above 0");
    if (!range.times && (step->kind != from->kind || step->number <= 0))
        fail(text, "whose step is not above 0 and of the ends' kind");
    return range;
}

}  // namespace

std::string_view unit_of(MeasureKind kind) {
    switch (kind) {
    case MeasureKind::kBytes:
        return "B";
    case MeasureKind::kTime:
        return "us";
    case MeasureKind::kBandwidth:
        return "GB/s";
    case MeasureKind::kFrequency:
        return "GHz";
    default:
        return "";
    }
}

std::optional<Measure> parse_measure(std::string_view text) {
    if (auto number = parse_number(text))
        return number;
    if (auto bytes = attempt(text, MeasureKind::kBytes, 1, parse_bytes))
        return bytes;
    if (auto time = attempt(text, MeasureKind::kTime, kPsPerUs, parse_time))
        return time;
    if (auto bandwidth = attempt(text, MeasureKind::kBandwidth, kGiga, parse_bandwidth))
        return bandwidth;
    return attempt(text, MeasureKind::kFrequency, kGiga, parse_frequency);
}

std::optional<Measure> measure_of(const Json& value) {
    if (value.is_number())
        return Measure{MeasureKind::kNumber, 0, value.get<double>()};
    if (!value.is_string())
        return std::nullopt;
    auto measure = parse_measure(value.get_ref<const std::string&>());
    // "8" in quotation marks is a text.
    if (measure && measure->kind == MeasureKind::kNumber)
        return std::nullopt;
    return measure;
}

std::vector<Json> expand_range(std::string_view text, std::size_t most) {
    const Range range = parse_range(text);
    std::vector<Json> values;
    const auto add = [&](Json value) {
        if (values.size() == most)
            fail(text, fmt::format("which has more than {} values", most));
        values.push_back(std::move(value));
    };
    if (range.from.kind == MeasureKind::kNumber) {
        // Computed from the start each time, since repeated steps would accumulate rounding errors.
        double factor = 1;
        for (std::size_t i = 0;; ++i) {
            const double value =
                range.times ? range.from.number * factor
                            : range.from.number + static_cast<double>(i) * range.step.number;
            constexpr double kRounding = 1e-9;
            if (value > range.to.number * (1 + kRounding))
                return values;
            add(json_number(value));
            factor *= range.step.number;
        }
    }
    const auto factor = static_cast<std::uint64_t>(range.step.number);
    for (std::uint64_t count = range.from.count; count <= range.to.count;) {
        add(measure_text(range.from.kind, count));
        if (range.times ? count > UINT64_MAX / factor : count > UINT64_MAX - range.step.count)
            break;
        count = range.times ? count * factor : count + range.step.count;
    }
    return values;
}

}  // namespace switchfold
