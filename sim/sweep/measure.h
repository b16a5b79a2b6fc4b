// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// The quantity that a number measures.
enum class MeasureKind : std::uint8_t { kNumber, kBytes, kTime, kBandwidth, kFrequency };

/// A number as written in a configuration: "25 MiB", "700 ns", 8.
struct Measure {
    MeasureKind kind = MeasureKind::kNumber;
    std::uint64_t count = 0;  ///< in the kind's base unit: B, ps, B/s, Hz; unused for kNumber
    double number = 0;        ///< in unit_of(kind)
    auto operator<=>(const Measure&) const = default;
};

/// Unit of a kind in plots: "B", "us", "GB/s", "GHz"; empty for a plain number.
[[nodiscard]] std::string_view unit_of(MeasureKind kind);
/// Interprets a number or a text with a unit; nothing for other values.
[[nodiscard]] std::optional<Measure> measure_of(const Json& value);
[[nodiscard]] std::optional<Measure> parse_measure(std::string_view text);

/// The values of "FROM..TO xN" or "FROM..TO +STEP", at most `most`. Throws std::invalid_argument
/// that says what is wrong and what was expected.
[[nodiscard]] std::vector<Json> expand_range(std::string_view text, std::size_t most);

}  // namespace switchfold
