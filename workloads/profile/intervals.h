// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/big_vector.h"

#include <cstdint>

namespace switchfold {

struct Interval {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

/// Merges overlapping intervals; sorts.
void merge_intervals(BigVector<Interval>& intervals);
[[nodiscard]] bool covers(const BigVector<Interval>& merged, std::uint64_t time);
/// ps of [start, end) that `merged` covers.
[[nodiscard]] std::uint64_t
covered(const BigVector<Interval>& merged, std::uint64_t start, std::uint64_t end);

}  // namespace switchfold
