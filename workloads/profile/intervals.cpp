// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/intervals.h"

#include "sim/core/big_sort.h"

#include <algorithm>
#include <utility>

namespace switchfold {

void merge_intervals(BigVector<Interval>& intervals) {
    big_sort(intervals, [](const auto& a, const auto& b) { return a.start < b.start; });
    BigVector<Interval> merged;
    for (const Interval& interval : intervals.pass()) {
        if (!merged.empty() && interval.start <= merged.back().end)
            merged.back().end = std::max(merged.back().end, interval.end);
        else
            merged.push_back(interval);
    }
    intervals = std::move(merged);
}

bool covers(const BigVector<Interval>& merged, std::uint64_t time) {
    const auto after = std::upper_bound(
        merged.begin(), merged.end(), time, [](std::uint64_t t, const Interval& i) {
            return t < i.start;
        });
    return after != merged.begin() && time < std::prev(after)->end;
}

std::uint64_t covered(const BigVector<Interval>& merged, std::uint64_t start, std::uint64_t end) {
    auto at = std::upper_bound(
        merged.begin(), merged.end(), start, [](std::uint64_t t, const Interval& i) {
            return t < i.start;
        });
    if (at != merged.begin())
        --at;
    std::uint64_t sum = 0;
    for (; at != merged.end() && at->start < end; ++at) {
        const std::uint64_t from = std::max(start, at->start);
        const std::uint64_t to = std::min(end, at->end);
        if (to > from)
            sum += to - from;
    }
    return sum;
}

}  // namespace switchfold
