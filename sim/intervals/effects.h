// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace switchfold::intervals {

/// Of lost time: nobody tells smaller shares apart, so errors are of shares with this added.
inline constexpr double kLeastShare = 0.01;

/// ln of the measured over the simulated share of lost time.
[[nodiscard]] inline double log_ratio_of_shares(double measured, double simulated) {
    const auto told = [](double share) { return std::max(0.0, share) + kLeastShare; };
    return std::log(told(measured) / told(simulated));
}

/// A simulated share with such an error, `factor` its exponential. What has no effect keeps none.
[[nodiscard]] inline double share_with_error(double share, double factor) {
    return share > 0 ? std::max(0.0, (share + kLeastShare) * factor - kLeastShare) : share;
}

}  // namespace switchfold::intervals
