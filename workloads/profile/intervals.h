// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_vector.h"
#include "core/units.h"

#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

/// A half-open interval of time, ps.
struct Interval {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

/// Sorts intervals, merges those that overlap or touch, and removes empty ones.
void merge_intervals(BigVector<Interval>& intervals);
/// Does the same. \returns the total time covered, ps.
std::uint64_t merge_intervals(std::vector<Interval>& intervals);
[[nodiscard]] bool covers(std::span<const Interval> merged, std::uint64_t time);
/// Time (ps) within [start, end) that `merged` covers.
[[nodiscard]] std::uint64_t
covered(std::span<const Interval> merged, std::uint64_t start, std::uint64_t end);

}  // namespace switchfold
