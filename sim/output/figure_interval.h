// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace switchfold {

/// Where 90 % of measured values lie in cases like a figure's.
struct FigureInterval {
    std::optional<double> low;  ///< in the figure's unit; none if no part of it was measured
    std::optional<double> high;
    /// False if nothing measured is like a part of it that matters. The ends are then those of its
    /// other parts, and `like` says which part is open.
    bool measured = false;
    std::string like;  ///< the measurements it is based on, as in "212 measured collectives on 19
                       ///< machines"
    bool operator==(const FigureInterval&) const = default;

    static constexpr auto fields() {
        using F = FigureInterval;
        return list_of(
            member("low", &F::low, Form::kAsOwner), member("high", &F::high, Form::kAsOwner),
            member("measured", &F::measured), member("like", &F::like));
    }
};

/// By the figure's key.
using FigureIntervals = std::map<std::string, FigureInterval, std::less<>>;

}  // namespace switchfold
