// SPDX-License-Identifier: Apache-2.0
#include "core/units.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

namespace switchfold {

namespace {

using U128 = unsigned __int128;

struct Unit {
    std::string_view name;
    std::uint64_t numerator;        ///< base units in one such unit ...
    std::uint64_t denominator = 1;  ///< ... divided by this: a bit is 1/8 byte
};

constexpr std::uint64_t kKibi = 1024;
constexpr std::array kTimeUnits{
    Unit{"ps", 1}, Unit{"ns", 1'000}, Unit{"us", 1'000'000}, Unit{"ms", 1'000'000'000},
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
constexpr std::array kFlopRateUnits{
    Unit{"FLOP/s", 1}, Unit{"GFLOP/s", 1'000'000'000}, Unit{"TFLOP/s", 1'000'000'000'000}};
constexpr std::array kFrequencyUnits{
    Unit{"Hz", 1}, Unit{"kHz", 1'000}, Unit{"MHz", 1'000'000}, Unit{"GHz", 1'000'000'000}};

[[noreturn]] void fail(std::string_view text, std::string_view what, std::string_view example) {
    throw std::invalid_argument(
        fmt::format("\"{}\" {}; write it like \"{}\"", text, what, example));
}

std::string names(std::span<const Unit> units) {
    std::string text;
    for (const Unit& unit : units)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", unit.name);
    return text;
}

/// A decimal number: digits / scale, exactly.
struct Decimal {
    U128 digits = 0;
    U128 scale = 1;
    std::string_view rest;  ///< text after the number
};

Decimal parse_decimal(std::string_view text, std::string_view example) {
    constexpr std::size_t kMostDigits = 20;  // digits x the largest unit must stay below 2^128
    if (!text.empty() && text.front() == '-')
        fail(text, "is negative; expected zero or more", example);
    Decimal number;
    bool point = false;
    std::size_t seen = 0;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '.' && !point && seen > 0) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        if (++seen > kMostDigits)
            fail(text, "has too many digits", example);
        number.digits = number.digits * 10 + static_cast<unsigned>(c - '0');
        if (point)
            number.scale *= 10;
    }
    if (seen == 0 || text[i - 1] == '.')
        fail(text, "is not a number with a unit", example);
    number.rest = text.substr(i);
    return number;
}

std::uint64_t parse(std::string_view text, std::span<const Unit> units, std::string_view example) {
    const Decimal number = parse_decimal(text, example);
    std::string_view name = number.rest;
    if (!name.empty() && name.front() == ' ')
        name.remove_prefix(1);
    if (name.empty())
        fail(text, "has no unit", example);
    for (const Unit& unit : units)
        if (name == unit.name) {
            const U128 product = number.digits * unit.numerator;
            const U128 divisor = number.scale * unit.denominator;
            if (product % divisor != 0)
                fail(text, fmt::format("is not a multiple of 1 {}", units.front().name), example);
            if (product / divisor > UINT64_MAX)
                fail(text, "is too large", example);
            return static_cast<std::uint64_t>(product / divisor);
        }
    fail(
        text, fmt::format("has the unknown unit \"{}\"; expected one of: {}", name, names(units)),
        example);
}

/// `count` in the unit, or nothing if that needs too many decimals.
std::string print_in(std::uint64_t count, const Unit& unit) {
    constexpr std::size_t kMostDecimals = 12;
    std::string text = fmt::format("{}", count / unit.numerator);
    U128 rest = count % unit.numerator;
    if (rest != 0)
        text += '.';
    for (std::size_t i = 0; rest != 0; ++i) {
        if (i == kMostDecimals)
            return {};
        rest *= 10;
        text += static_cast<char>('0' + static_cast<int>(rest / unit.numerator));
        rest %= unit.numerator;
    }
    return fmt::format("{} {}", text, unit.name);
}

/// The shortest text; among equally short ones the last, which has the larger unit.
std::string print(std::uint64_t count, std::span<const Unit> units) {
    std::string best = print_in(count, units.front());
    for (const Unit& unit : units.subspan(1)) {
        if (unit.denominator != 1 || count < unit.numerator)
            continue;
        std::string text = print_in(count, unit);
        if (!text.empty() && text.size() <= best.size())
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
FlopRate parse_flop_rate(std::string_view text) {
    return FlopRate(parse(text, kFlopRateUnits, "794 TFLOP/s"));
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
std::string to_string(FlopRate value) {
    return print(value.count(), kFlopRateUnits);
}

}  // namespace switchfold
