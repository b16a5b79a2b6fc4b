// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"
#include "sim/kinds/rows.h"

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace switchfold {

// The two large kinds are read and written in units of their own.
SWITCHFOLD_PARAMETERS(extern, ManyCoreParams);
SWITCHFOLD_PARAMETERS(extern, TrainingWorkloadParams);

namespace {

template <std::size_t... I>
std::optional<WorkloadRows> row_of(const Workload& workload, std::index_sequence<I...> /*rows*/) {
    std::optional<WorkloadRows> row;
    const auto attempt = [&]<class Params>(std::type_identity<Params>) {
        if (const auto* params = workload.as<Params>())
            row = *params;
    };
    (attempt(std::type_identity<std::variant_alternative_t<I, WorkloadRows>>{}), ...);
    return row;
}

std::optional<WorkloadRows> row_of(const Workload& workload) {
    return row_of(workload, std::make_index_sequence<std::variant_size_v<WorkloadRows>>());
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
