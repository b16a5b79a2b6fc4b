// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/likeness.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::intervals {

/// How far a measured value lay from the simulated one.
struct Residual {
    Likeness of;
    std::string machine;   ///< kind of machine, by its system
    std::string table;     ///< what was measured together
    double log_ratio = 0;  ///< ln(measured / simulated); of effects ln of their shares' ratio
    std::string standing;  ///< unseen, chosen, fitted
    bool own = false;      ///< of the very machine that is asked about, not of its kind
};

/// 90 % of measured values lie between low and high times the simulated one. Contains 1.
struct Range {
    double low = 1;
    double high = 1;
    std::size_t measurements = 0;  ///< alike, or as nearly as there are
    std::size_t machines = 0;      ///< that they are from
    std::string nearest;           ///< a sentence: what is like it, or that nothing is
    bool own = false;              ///< of the very machine that is asked about
    /// Whether anything like it was measured. If not, low and high say nothing.
    [[nodiscard]] bool measured() const { return measurements > 0; }
};

/// The residuals of all measurements that this simulator was compared with.
class Residuals {
public:
    explicit Residuals(std::vector<Residual> residuals);

    /// Reads a table (validation/data/residuals.csv, installed with the program). Throws
    /// ConfigError "file: line N: ...".
    [[nodiscard]] static Residuals read(const std::filesystem::path& path);
    [[nodiscard]] static Residuals parse(std::string_view text, const std::string& label);

    [[nodiscard]] Range range(const Likeness& likeness) const;
    /// Between which a share (0.9: the middle 90 %) of measured values lie.
    [[nodiscard]] Range range(const Likeness& likeness, double share) const;

    /// Between which 90 % of measured ratios of two cases like this on one machine lie, relative to
    /// the simulated ratio, as tables with several of them show.
    [[nodiscard]] Range range_of_pairs(const Likeness& likeness) const;

    /// One row a likeness, one column a draw: factors on simulated values, 1 of what is unmeasured.
    /// Column i of all rows is one drawn machine, so that the shared part of errors is shared and a
    /// difference of two scenarios is tighter than either. Each row is distributed as its range().
    [[nodiscard]] std::vector<std::vector<double>>
    draws(std::span<const Likeness> likenesses, std::size_t count, std::uint64_t seed) const;

    [[nodiscard]] const std::vector<Residual>& all() const { return residuals_; }
    /// With measurements of the very machine that is asked about.
    [[nodiscard]] Residuals with_own(std::span<const Residual> own) const;
    /// As if a machine had not been measured.
    [[nodiscard]] Residuals without_machine(std::string_view machine) const;

private:
    std::vector<Residual> residuals_;
};

/// As a table that read() takes.
[[nodiscard]] std::string to_csv(std::span<const Residual> residuals);

}  // namespace switchfold::intervals
