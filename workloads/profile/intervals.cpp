// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/intervals.h"

#include "core/big_sort.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

bool earlier(const Interval& a, const Interval& b) {
    return a.start < b.start;
}

/// \pre `next` starts no earlier than any interval already added.
template <class Intervals>
void add(Intervals& merged, const Interval& next) {
    if (next.end <= next.start)
        return;
    if (!merged.empty() && next.start <= merged.back().end)
        merged.back().end = std::max(merged.back().end, next.end);
    else
        merged.push_back(next);
}

}  // namespace

void merge_intervals(BigVector<Interval>& intervals) {
    big_sort(intervals, earlier);
    BigVector<Interval> merged;
    for (const Interval& interval : intervals.pass())
        add(merged, interval);
    intervals = std::move(merged);
}

std::uint64_t merge_intervals(std::vector<Interval>& intervals) {
    std::sort(intervals.begin(), intervals.end(), earlier);
    std::vector<Interval> merged;
    for (const Interval& interval : intervals)
        add(merged, interval);
    intervals = std::move(merged);
    std::uint64_t total = 0;
    for (const Interval& interval : intervals)
        total += interval.end - interval.start;
    return total;
}

bool covers(std::span<const Interval> merged, std::uint64_t time) {
    const auto after = std::upper_bound(
        merged.begin(), merged.end(), time,
        [](std::uint64_t t, const Interval& i) { return t < i.start; });
    return after != merged.begin() && time < std::prev(after)->end;
}

std::uint64_t covered(std::span<const Interval> merged, std::uint64_t start, std::uint64_t end) {
    auto at = std::upper_bound(
        merged.begin(), merged.end(), start,
        [](std::uint64_t t, const Interval& i) { return t < i.start; });
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
