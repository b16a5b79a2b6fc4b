// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kinds/workload_kind.h"

#include <string_view>
#include <vector>

namespace switchfold {

struct PlanParams;

/// All kinds, in the order of their rows; that of workloads that share a machine is the last.
[[nodiscard]] std::vector<const WorkloadKind*> workload_kinds();

[[nodiscard]] const WorkloadKind& kind_of(const Workload& workload);
/// That of the only workload, or of several that share the machine.
[[nodiscard]] const WorkloadKind& kind_of(const Experiment& experiment);
/// By its "type"; null if there is none.
[[nodiscard]] const WorkloadKind* kind_named(std::string_view type);

/// The plan of the experiment's only workload; null if it has none.
[[nodiscard]] const PlanParams* plan_of(const Experiment& experiment);
/// Whether the workload computes beside its collectives.
[[nodiscard]] bool computes(const Workload& workload);

}  // namespace switchfold
