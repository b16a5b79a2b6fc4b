// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/kernel_table.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Looks up measured kernels of equal and similar size.
class MeasuredTimes {
public:
    /// Throws ConfigError as KernelTimes does.
    MeasuredTimes(const KernelTable& table, const GpuRates& gpu, const std::string& label);

    /// Measured seconds of exactly this kernel, if any.
    [[nodiscard]] std::optional<double> exact(const MatrixProduct& product) const;
    [[nodiscard]] std::optional<double> exact(const Attention& attention) const;
    /// Ratio of measured to modelled time near this size; 1 without similar measurements.
    [[nodiscard]] double ratio(const MatrixProduct& product) const;
    [[nodiscard]] double ratio(const Attention& attention) const;

private:
    /// Dimensions that are compared, and properties that must be equal.
    struct Key {
        std::array<std::uint64_t, 4> sides{1, 1, 1, 1};
        std::uint64_t kind = 0;  ///< datatype and, for attention, head width
        auto operator<=>(const Key&) const = default;
    };
    struct Point {
        Key key;
        std::array<double, 4> logs{};
        double seconds = 0;
        double log_ratio = 0;
        std::size_t line = 0;
    };
    static std::optional<Key> key_of(const MatrixProduct& product);
    static std::optional<Key> key_of(const Attention& attention);
    static std::array<double, 4> logs_of(const Key& key);
    static std::optional<double> exact(const std::vector<Point>& points, const Key& key);
    static double ratio(const std::vector<Point>& points, const Key& key);

    std::vector<Point> products_;  ///< sorted by key
    std::vector<Point> attentions_;
};

}  // namespace switchfold
