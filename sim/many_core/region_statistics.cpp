// SPDX-License-Identifier: Apache-2.0
#include "sim/many_core/region_statistics.h"

namespace switchfold {

StatisticTable region_table() {
    return StatisticTable::of<RegionStatistics>(
        "regions",
        "A parallel region of a step on a many-core coprocessor or its host, named after layer and "
        "phase; in those experiments only.");
}

StatisticTable region_statistics(const OffloadedRun& run) {
    StatisticTable table = region_table();
    for (std::size_t i = 0; i < run.regions.size(); ++i) {
        const RegionTime& region = run.regions[i];
        table.add(
            run.program.regions[i].name,
            RegionStatistics{
                run.region_times[i], rounded_time(region.begin_and_end), rounded_time(region.work),
                rounded_time(region.sums)});
    }
    return table;
}

}  // namespace switchfold
