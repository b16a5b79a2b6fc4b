// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/kinds.h"

#include "core/error.h"
#include "sim/kinds/rows.h"
#include "sim/kinds/shared_machine/shared_machine.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

template <std::size_t... I>
std::vector<const WorkloadKind*> kinds_of_rows(std::index_sequence<I...> /*rows*/) {
    return {&kind_of(std::variant_alternative_t<I, WorkloadRows>())...};
}

}  // namespace

std::vector<const WorkloadKind*> workload_kinds() {
    auto kinds = kinds_of_rows(std::make_index_sequence<std::variant_size_v<WorkloadRows>>());
    kinds.push_back(&shared_machine_kind());
    return kinds;
}

const WorkloadKind& kind_of(const Workload& workload) {
    const WorkloadKind* found = nullptr;
    const bool of_row = visit_row(workload, [&](const auto& params) { found = &kind_of(params); });
    SWITCHFOLD_CHECK(of_row, "a workload of no kind");
    return *found;
}

const WorkloadKind& kind_of(const Experiment& experiment) {
    return experiment.workload ? kind_of(*experiment.workload) : shared_machine_kind();
}

const WorkloadKind* kind_named(std::string_view type) {
    const auto kinds = workload_kinds();
    const auto found = std::ranges::find(kinds, type, &WorkloadKind::name);
    return found == kinds.end() ? nullptr : *found;
}

const PlanParams* plan_of(const Experiment& experiment) {
    return experiment.workload ? kind_of(*experiment.workload).plan(*experiment.workload) : nullptr;
}

bool computes(const Workload& workload) {
    return kind_of(workload).facts().computes;
}

}  // namespace switchfold
