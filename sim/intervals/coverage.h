// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/residuals.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace switchfold::intervals {

/// How many measured values lie in the ranges that the measurements of other machines give.
struct Coverage {
    std::string kind;
    std::size_t machines = 0;
    std::size_t cases = 0;
    std::size_t unmeasured = 0;  ///< cases that nothing of other machines is like
    std::size_t inside = 0;
    double median_width = 0;  ///< of ln(high / low)
    [[nodiscard]] double share() const {
        const std::size_t asked = cases - unmeasured;
        return asked == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(asked);
    }
};

/// So many machines say how often ranges hold; of fewer, each decides too much.
inline constexpr std::size_t kMachinesToTell = 8;

struct Nominal {
    double share = 0.9;  ///< of measured values that ranges shall hold
    double stretch = 1;  ///< of ranges about no error; other than 1 to show that a test can fail
};

/// Leaves out one machine at a time. \returns by nominal share, then by kind.
[[nodiscard]] std::vector<std::vector<Coverage>>
leave_machines_out(const Residuals& residuals, std::span<const Nominal> nominal);

/// The same of ratios of the times of two algorithms, measured on one machine by one operation with
/// like ranks and sizes: by draws() without that machine.
struct RatioCoverage {
    Coverage coverage;
    double median_width_alone = 0;  ///< if the two algorithms' errors had nothing in common
};
[[nodiscard]] RatioCoverage
leave_machines_out_of_ratios(const Residuals& residuals, const Nominal& nominal);

/// Ranges from every second row of a kind that a machine has, as measurements of the very machine,
/// asked about the rows between. Rows of which too few are alike count as unmeasured.
[[nodiscard]] Coverage
halve_machines(const Residuals& residuals, const std::string& kind, const Nominal& nominal);

/// The same of ratios of two cases of this kind that one table has, each drawn from the rows once:
/// by range_of_pairs() without that machine.
[[nodiscard]] Coverage leave_machines_out_of_pairs(
    const Residuals& residuals, const std::string& kind, const Nominal& nominal);

}  // namespace switchfold::intervals
