// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_vector.h"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

namespace switchfold {

/// Merges sorted runs of `run` records each; equal records keep the order of their runs.
template <class T, class Less>
BigVector<T> merge_runs(const BigVector<T>& runs, std::size_t run, Less less) {
    struct Cursor {
        std::size_t next;
        std::size_t end;
    };
    const auto later = [&](const Cursor& a, const Cursor& b) {
        return less(runs[b.next], runs[a.next]) ||
               (!less(runs[a.next], runs[b.next]) && b.next < a.next);
    };
    std::priority_queue<Cursor, std::vector<Cursor>, decltype(later)> cursors(later);
    for (std::size_t from = 0; from < runs.size(); from += run)
        cursors.push({from, std::min(from + run, runs.size())});
    BigVector<T> merged;
    while (!cursors.empty()) {
        Cursor cursor = cursors.top();
        cursors.pop();
        runs.forget_at(merged.size());
        merged.push_back(runs[cursor.next]);
        if (++cursor.next < cursor.end)
            cursors.push(cursor);
    }
    return merged;
}

/// Sorts records that may exceed memory; equal records keep their order (stable).
template <class T, class Less>
void big_sort(BigVector<T>& records, Less less) {
    bool sorted = true;
    for (std::size_t i = 1; i < records.size() && sorted; ++i) {
        records.forget_at(i);
        sorted = !less(records[i], records[i - 1]);
    }
    if (sorted)
        return;
    constexpr std::size_t kRun = BigMemory::kWindow / sizeof(T);
    for (std::size_t from = 0; from < records.size(); from += kRun) {
        T* const first = records.data() + from;
        records.forget_at(0);
        std::stable_sort(first, first + std::min(kRun, records.size() - from), less);
    }
    if (records.size() > kRun)
        records = merge_runs(records, kRun, less);
}

}  // namespace switchfold
