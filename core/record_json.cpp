// SPDX-License-Identifier: Apache-2.0
#include "core/record_json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace switchfold {

OrderedJson rounded_json(double value, int decimals) {
    if (!std::isfinite(value))
        return nullptr;
    const double rounded = std::strtod(fmt::format("{:.{}f}", value, decimals).c_str(), nullptr);
    return rounded == 0 ? 0.0 : rounded;  // no "-0.0"
}

OrderedJson number_json(double value, Form form) {
    constexpr int kMilliDecimals = 3;
    constexpr int kMicroDecimals = 6;
    if (!std::isfinite(value))
        return nullptr;
    switch (form) {
    case Form::kMilli:
        return rounded_json(value, kMilliDecimals);
    case Form::kMicro:
        return rounded_json(value, kMicroDecimals);
    case Form::kSixDigits:
        return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
    case Form::kWhole:
        return static_cast<std::uint64_t>(value);
    case Form::kPlain:
    case Form::kJsonText:
    case Form::kAsOwner:
        break;
    }
    return value;
}

}  // namespace switchfold
