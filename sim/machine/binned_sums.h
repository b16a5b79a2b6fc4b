// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Amounts of several rows over a time whose end is not known before: in a fixed number of equally
/// long bins, which double in length when time exceeds them.
class BinnedSums {
public:
    /// `bins`: even.
    BinnedSums(std::size_t rows, std::size_t bins, Time first_bin) :
        bins_(bins), bin_(first_bin), sums_(rows * bins) {}

    [[nodiscard]] Time bin() const { return bin_; }
    [[nodiscard]] double at(std::size_t row, std::size_t bin) const {
        return sums_[row * bins_ + bin];
    }
    /// Makes the bins so long that they reach to `end`.
    void cover(Time end) {
        while (end.count() > bins_ * bin_.count()) {
            bin_ = bin_ * 2;
            for (std::size_t row = 0; row < sums_.size() / bins_; ++row) {
                double* of = sums_.data() + row * bins_;
                for (std::size_t i = 0; i < bins_; ++i)
                    of[i] = i < bins_ / 2 ? of[2 * i] + of[2 * i + 1] : 0;
            }
        }
    }
    /// Spreads an amount evenly over [from, to), or puts it at `to` if that is no time.
    void add(std::size_t row, Time from, Time to, double amount) {
        cover(to);
        if (amount == 0)
            return;
        const double length = static_cast<double>(to.count() - std::min(from, to).count());
        std::size_t bin = index_of(std::min(from, to));
        if (length == 0) {
            sums_[row * bins_ + bin] += amount;
            return;
        }
        for (std::uint64_t at = from.count(); at < to.count(); ++bin) {
            const std::uint64_t end = std::min(to.count(), (bin + 1) * bin_.count());
            sums_[row * bins_ + bin] += amount * (static_cast<double>(end - at) / length);
            at = end;
        }
    }

private:
    [[nodiscard]] std::size_t index_of(Time at) const {
        return std::min<std::size_t>(bins_ - 1, at.count() / bin_.count());
    }
    std::size_t bins_;
    Time bin_;
    std::vector<double> sums_;
};

}  // namespace switchfold
