// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/residuals.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace switchfold::intervals {

/// What rows have in common that were measured on as many ranks of one machine for one table.
using Together = std::tuple<std::string_view, std::string_view, std::uint32_t, std::uint32_t>;
[[nodiscard]] Together measured_together(const Residual& residual);

/// A residual's part in what is known of a case.
struct Neighbour {
    std::size_t residual = 0;
    double weight = 0;  ///< of all neighbours: 1
};

/// The measurements that are like a case, and how much they tell.
///
/// A residual's likeness is exp(-(distance / bandwidth)^2). A table speaks with the likeness of its
/// most alike row, which its rows share by their own: a hundred rows say no more than three. A
/// machine speaks as its most alike table, and its tables share that. The bandwidth is the smallest
/// of a fixed list at which the machines' likenesses add up to enough: where few machines are
/// alike, the unlike are asked too. Where there are fewer than two, all machines of the kind of
/// case are, with a weight of one less half of those. What so few machines cannot tell widens the
/// range around its median; where they are too unlike for any use, nothing is said.
///
/// Where the machine itself was measured at enough cases that are nearly the same, only these are
/// asked, each with a voice of its own.
struct Neighbourhood {
    std::vector<Neighbour> rows;  ///< by log ratio; none: nothing alike was measured
    double machines = 0;          ///< sum of the machines' likenesses
    double median = 0;            ///< of log ratios
    double widening = 1;          ///< of distances from the median
    double nearest = 0;           ///< the smallest distance
    std::size_t alike = 0;        ///< rows of at least half the most alike row's likeness
    std::size_t alike_machines = 0;
    std::size_t nearest_row = 0;
    bool own = false;  ///< of the very machine that is asked about, and of no other

    /// Log ratio below which a share of measured values lie.
    [[nodiscard]] double quantile(std::span<const Residual> residuals, double share) const;
    /// ln of the factor within which a share of measured ratios of two rows of one table lie, times
    /// the simulated ratio or over it: rows of as many ranks, of which what both share cancels.
    /// None if no table has two.
    [[nodiscard]] std::optional<double>
    spread_of_pairs(std::span<const Residual> residuals, double share) const;
    [[nodiscard]] double widened(double log_ratio) const {
        return median + widening * (log_ratio - median);
    }
};

/// `left_out` is a machine that is not asked; empty: all are.
[[nodiscard]] Neighbourhood neighbourhood_of(
    const Likeness& likeness, std::span<const Residual> residuals, std::string_view left_out = {});

}  // namespace switchfold::intervals
