// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace switchfold {

/// A count of one unit. Arithmetic stays within the unit and throws on overflow and underflow.
template <class Tag>
class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(std::uint64_t count) : count_(count) {}

    [[nodiscard]] constexpr std::uint64_t count() const { return count_; }
    constexpr auto operator<=>(const Quantity&) const = default;

    constexpr Quantity& operator+=(Quantity other) {
        if (count_ > std::numeric_limits<std::uint64_t>::max() - other.count_)
            throw std::overflow_error("quantity overflow");
        count_ += other.count_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        if (other.count_ > count_)
            throw std::underflow_error("quantity underflow");
        count_ -= other.count_;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
    friend constexpr Quantity operator*(Quantity a, std::uint64_t factor) {
        const auto product = static_cast<unsigned __int128>(a.count_) * factor;
        if (product > std::numeric_limits<std::uint64_t>::max())
            throw std::overflow_error("quantity overflow");
        return Quantity(static_cast<std::uint64_t>(product));
    }
    friend constexpr Quantity operator/(Quantity a, std::uint64_t divisor) {
        return Quantity(a.count_ / divisor);
    }

private:
    std::uint64_t count_ = 0;
};

using Time = Quantity<struct TimeTag>;            ///< picoseconds
using Bytes = Quantity<struct BytesTag>;          ///< bytes
using Bandwidth = Quantity<struct BandwidthTag>;  ///< bytes per second
using Frequency = Quantity<struct FrequencyTag>;  ///< hertz
using FlopRate = Quantity<struct FlopRateTag>;    ///< floating-point operations per second

inline constexpr Time kTimeMax{std::numeric_limits<std::uint64_t>::max()};

constexpr Time picoseconds(std::uint64_t v) {
    return Time(v);
}
constexpr Time nanoseconds(std::uint64_t v) {
    return Time(1000) * v;
}
constexpr Time microseconds(std::uint64_t v) {
    return Time(1'000'000) * v;
}
constexpr Bytes kibibytes(std::uint64_t v) {
    return Bytes(1024) * v;
}
constexpr Bytes mebibytes(std::uint64_t v) {
    return Bytes(1024 * 1024) * v;
}
constexpr Bandwidth gigabytes_per_second(std::uint64_t v) {
    return Bandwidth(1'000'000'000) * v;
}

/// Time that `bytes` take at `bandwidth`, rounded up to the next picosecond; throws if it does not
/// fit.
constexpr Time serialization_time(Bytes bytes, Bandwidth bandwidth) {
    if (bandwidth.count() == 0)
        throw std::domain_error("bandwidth is zero");
    const auto scaled = static_cast<unsigned __int128>(bytes.count()) * 1'000'000'000'000U;
    const auto ps = (scaled + bandwidth.count() - 1) / bandwidth.count();
    if (ps > std::numeric_limits<std::uint64_t>::max())
        throw std::overflow_error("quantity overflow");
    return Time(static_cast<std::uint64_t>(ps));
}

constexpr double to_microseconds(Time t) {
    return static_cast<double>(t.count()) * 1e-6;
}
[[nodiscard]] constexpr double to_milliseconds(double seconds) {
    return seconds * 1e3;
}
constexpr double to_seconds(Time t) {
    return static_cast<double>(t.count()) * 1e-12;
}

/// Reads "700 ns", "25 MiB", "450 GB/s", "400 Gb/s", "1.83 GHz", "794 TFLOP/s". Rejects a number
/// without a unit, a negative number and a value that is not a whole count of the base unit. Throws
/// std::invalid_argument that states what was expected.
Time parse_time(std::string_view text);
Bytes parse_bytes(std::string_view text);
Bandwidth parse_bandwidth(std::string_view text);
Frequency parse_frequency(std::string_view text);
FlopRate parse_flop_rate(std::string_view text);

/// The shortest exact text that the matching parser reads back to the same value.
std::string to_string(Time value);
std::string to_string(Bytes value);
std::string to_string(Bandwidth value);
std::string to_string(Frequency value);
std::string to_string(FlopRate value);

}  // namespace switchfold
