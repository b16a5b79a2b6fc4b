// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics.h"
#include "sim/many_core/offloaded_run.h"

namespace switchfold {

/// Statistics of a parallel region, per step.
struct RegionStatistics {
    Time time;
    Time begin_and_end;
    Time work;
    Time sums;
    static constexpr auto statistics() {
        using S = RegionStatistics;
        return list_of(
            statistic("time", &S::time, Unit::kMicroseconds, "Of the whole region."),
            statistic(
                "begin_and_end", &S::begin_and_end, Unit::kMicroseconds,
                "Of the fork and of the barrier at its end."),
            statistic(
                "work", &S::work, Unit::kMicroseconds,
                "Of the cores that work longest, between barriers."),
            statistic(
                "sums", &S::sums, Unit::kMicroseconds,
                "In which the teams' gradients are added, barriers included."));
    }
};

[[nodiscard]] StatisticTable region_table();
[[nodiscard]] StatisticTable region_statistics(const OffloadedRun& run);

}  // namespace switchfold
