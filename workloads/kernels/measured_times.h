// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/kernel_table.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// What measured kernels say about sizes like them.
class MeasuredTimes {
public:
    /// Throws ConfigError as KernelTimes does.
    MeasuredTimes(const KernelTable& table, const GpuRates& gpu, const std::string& label);

    /// Measured seconds of exactly this kernel.
    [[nodiscard]] std::optional<double> exact(const MatrixProduct& product) const;
    [[nodiscard]] std::optional<double> exact(const Attention& attention) const;
    /// Measured over modelled time near this size; 1 where nothing like it was measured.
    [[nodiscard]] double ratio(const MatrixProduct& product) const;
    [[nodiscard]] double ratio(const Attention& attention) const;

private:
    /// Sides that are compared, and what must be the same.
    struct Key {
        std::array<std::uint64_t, 4> sides{1, 1, 1, 1};
        std::uint64_t kind = 0;  ///< datatype and, for attention, width
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
