// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace switchfold {

/// Max-min fair shares of `capacity`, for demands in any unit: nobody gets more than requested, the
/// remainder of modest demands is divided equally among the others, and nothing is left over while
/// anybody wants more.
void max_min_share(double capacity, std::span<const double> demands, std::vector<double>& shares);

}  // namespace switchfold
