// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"
#include "sim/kinds/rows.h"

#include <optional>
#include <utility>
#include <variant>

namespace switchfold {

// The two large kinds are read and written in units of their own.
SWITCHFOLD_PARAMETERS(extern, ManyCoreParams);
SWITCHFOLD_PARAMETERS(extern, TrainingWorkloadParams);

namespace {

std::optional<WorkloadRows> row_of(const Workload& workload) {
    std::optional<WorkloadRows> row;
    visit_row(workload, [&](const auto& params) { row = params; });
    return row;
}

}  // namespace

void read_value(const Cursor& c, Workload& out) {
    WorkloadRows row = row_of(out).value_or(WorkloadRows());
    read_value(c, row);
    std::visit([&](auto& params) { out = std::move(params); }, row);
}

OrderedJson write_value(const Workload& value) {
    return write_value(row_of(value));
}

OrderedJson SchemaOf<Workload>::make() {
    return SchemaOf<WorkloadRows>::make();
}

}  // namespace switchfold
