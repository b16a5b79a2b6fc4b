// SPDX-License-Identifier: Apache-2.0
#include "app/measured_points.h"

#include "validation/collectives/collective_plan.h"
#include "validation/collectives/collective_tables.h"
#include "validation/harness/root.h"
#include "validation/machines/machines.h"

namespace switchfold {

OrderedJson measured_points(const std::filesystem::path& table) {
    using namespace validation;  // NOLINT(google-build-using-namespace): all of it is from there
    const std::vector<MeasuredRow> rows = read_collective_tables(table);
    const Machines machines(find_root({}));
    const CollectivePlan plan = plan_collectives(rows, machines);
    OrderedJson points = OrderedJson::array();
    for (const PlannedRow& planned : plan.rows) {
        const MeasuredRow& row = *planned.row;
        const auto time = measured_time(row);
        if (!row.bytes || !time)
            continue;
        const PlannedRun& run = plan.runs[planned.run];
        points.push_back(
            {{"machine", run.system.name},
             {"ran_ranks", run.ranks},
             {"ran", planned.in_switch ? "in_switch" : std::string(enum_name(run.algorithm))},
             {"size_bytes", *row.bytes},
             {"time_us", time->us},
             {"bus_bandwidth_GBps",
              bus_bandwidth_GBps(*row.collective, *row.bytes, row.gpus, time->us)},
             {"table", row.table}});
    }
    return points;
}

}  // namespace switchfold
