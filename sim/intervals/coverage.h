// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/residuals.h"

#include <cstddef>
#include <string>
#include <vector>

namespace switchfold::intervals {

/// How many measured values of one kind lie in ranges from the measurements of other machines.
struct Coverage {
    std::string kind;
    std::size_t machines = 0;
    std::size_t cases = 0;
    std::size_t unmeasured = 0;  ///< cases that nothing of other machines is like
    std::size_t inside = 0;
    double median_width = 0;  ///< of ln(high / low)
    [[nodiscard]] double share() const {
        return cases == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(cases);
    }
};

/// Leaves out one machine at a time. \param share of measured values that ranges shall hold.
/// \param stretch of ranges about no error: 1, except to show that a test can fail.
[[nodiscard]] std::vector<Coverage>
leave_machines_out(const Residuals& residuals, double share = 0.9, double stretch = 1);

}  // namespace switchfold::intervals
