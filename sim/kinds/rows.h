// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/training_params.h"
#include "sim/config/workload.h"
#include "sim/kinds/collective/collective_params.h"
#include "sim/kinds/experts/experts_params.h"
#include "sim/kinds/kernel_beside/kernel_beside_params.h"
#include "sim/kinds/many_core/many_core_params.h"
#include "sim/kinds/trace/trace_params.h"

#include <type_traits>
#include <variant>

namespace switchfold {

/// The kinds of workload, a row each: what one is, is said where its folder defines
/// kind_of(params). Several workloads that share a machine are a kind too, without a row: their
/// parameters are those of the others.
using WorkloadRows = std::variant<
    TraceWorkloadParams, CollectiveWorkloadParams, TrainingWorkloadParams, ExpertsWorkloadParams,
    KernelBesideCollectiveParams, ManyCoreParams>;

/// Calls `visit` with the workload's parameters. \returns whether it is of a row.
template <class Visit>
bool visit_row(const Workload& workload, const Visit& visit) {
    const auto attempt = [&](const auto* params) {
        if (params != nullptr)
            visit(*params);
        return params != nullptr;
    };
    return [&]<class... Params>(std::type_identity<std::variant<Params...>> /*rows*/) {
        return (attempt(workload.as<Params>()) || ...);
    }(std::type_identity<WorkloadRows>{});
}

}  // namespace switchfold
