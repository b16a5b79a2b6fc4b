// SPDX-License-Identifier: Apache-2.0
#include "sim/core/units.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace switchfold {

namespace {

using U128 = unsigned __int128;

struct Unit {
    std::string_view name;
    std::uint64_t numerator;        ///< base units in one of it ...
    std::uint64_t denominator = 1;  ///< ... divided by this: a bit is an eighth of a byte
};

constexpr std::uint64_t kKibi = 1024;
constexpr std::array kTimeUnits{
    Unit{"ps", 1},
    Unit{"ns", 1'000},
    Unit{"us", 1'000'000},
    Unit{"ms", 1'000'000'000},
    Unit{"s", 1'000'000'000'000}};
constexpr std::array kByteUnits{
    Unit{"B", 1},
    Unit{"KiB", kKibi},
    Unit{"MiB", kKibi* kKibi},
    Unit{"GiB", kKibi* kKibi* kKibi},
    Unit{"TiB", kKibi* kKibi* kKibi* kKibi},
    Unit{"kB", 1'000},
    Unit{"MB", 1'000'000},
    Unit{"GB", 1'000'000'000},
    Unit{"TB", 1'000'000'000'000}};
constexpr std::array kBandwidthUnits{
    Unit{"B/s", 1},
    Unit{"kB/s", 1'000},
    Unit{"MB/s", 1'000'000},
    Unit{"GB/s", 1'000'000'000},
    Unit{"TB/s", 1'000'000'000'000},
    Unit{"KiB/s", kKibi},
    Unit{"MiB/s", kKibi* kKibi},
    Unit{"GiB/s", kKibi* kKibi* kKibi},
    Unit{"b/s", 1, 8},
    Unit{"kb/s", 1'000, 8},
    Unit{"Mb/s", 1'000'000, 8},
    Unit{"Gb/s", 1'000'000'000, 8},
    Unit{"Tb/s", 1'000'000'000'000, 8}};
constexpr std::array kFrequencyUnits{
    Unit{"Hz", 1}, Unit{"kHz", 1'000}, Unit{"MHz", 1'000'000}, Unit{"GHz", 1'000'000'000}};

[[noreturn]] void fail(std::string_view text, std::string_view what, std::string_view example) {
    throw std::invalid_argument(
        fmt::format("\"{}\" {}; write it like \"{}\"", text, what, example));
}

std::uint64_t parse(std::string_view text, std::span<const Unit> units, std::string_view example) {
    std::size_t i = 0;
    U128 digits = 0;
    U128 scale = 1;  // digits / scale is the number
    bool point = false;
    std::size_t seen = 0;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '.' && !point && seen > 0) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        ++seen;
        digits = digits * 10 + static_cast<unsigned>(c - '0');
        if (point)
            scale *= 10;
        if (seen > 20)
            fail(text, "has too many digits", example);
    }
    if (seen == 0 || text[i - 1] == '.')
        fail(text, "is not a number with a unit", example);
    std::string_view rest = text.substr(i);
    while (!rest.empty() && rest.front() == ' ')
        rest.remove_prefix(1);
    for (const Unit& unit : units)
        if (rest == unit.name) {
            const U128 divisor = scale * unit.denominator;
            if (digits > ~U128{0} / unit.numerator)
                fail(text, "is too large", example);
            const U128 product = digits * unit.numerator;
            if (product % divisor != 0)
                fail(text, "is no whole number of the smallest unit", example);
            if (product / divisor > UINT64_MAX)
                fail(text, "is too large", example);
            return static_cast<std::uint64_t>(product / divisor);
        }
    if (rest.empty())
        fail(text, "has no unit", example);
    fail(text, fmt::format("has the unknown unit \"{}\"", rest), example);
}

/// The largest unit of which `count` is a multiple of a thousandth, with the fraction cut to its digits.
std::string print(std::uint64_t count, std::span<const Unit> units) {
    std::string best = fmt::format("{} {}", count, units.front().name);
    for (const Unit& unit : units) {
        if (unit.denominator != 1 || unit.numerator == 1 || count < unit.numerator)
            continue;
        const U128 scaled = static_cast<U128>(count) * 1'000'000;
        if (scaled % unit.numerator != 0)
            continue;
        const auto value = static_cast<std::uint64_t>(scaled / unit.numerator);
        std::string text = fmt::format("{}", value / 1'000'000);
        if (value % 1'000'000 != 0) {
            text += fmt::format(".{:06}", value % 1'000'000);
            while (text.back() == '0')
                text.pop_back();
        }
        text += fmt::format(" {}", unit.name);
        if (text.size() <= best.size())
            best = std::move(text);
    }
    return best;
}

}  // namespace

Time parse_time(std::string_view text) {
    return Time(parse(text, kTimeUnits, "700 ns"));
}
Bytes parse_bytes(std::string_view text) {
    return Bytes(parse(text, kByteUnits, "25 MiB"));
}
Bandwidth parse_bandwidth(std::string_view text) {
    return Bandwidth(parse(text, kBandwidthUnits, "450 GB/s"));
}
Frequency parse_frequency(std::string_view text) {
    return Frequency(parse(text, kFrequencyUnits, "1.83 GHz"));
}

std::string to_string(Time value) {
    return print(value.count(), kTimeUnits);
}
std::string to_string(Bytes value) {
    return print(value.count(), kByteUnits);
}
std::string to_string(Bandwidth value) {
    return print(value.count(), kBandwidthUnits);
}
std::string to_string(Frequency value) {
    return print(value.count(), kFrequencyUnits);
}

}  // namespace switchfold
