// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/workload/memory_plans.h"
#include "workloads/memory/compare/compare_planners.h"
#include "workloads/memory/update/update_policy.h"

#include <span>
#include <string>

namespace switchfold {

/// What a policy needs for gradients, and how long the backward pass and the updates take.
struct ComparedUpdate {
    std::string what;
    UpdateReplay replay;
};
[[nodiscard]] std::vector<ComparedUpdate> compare_updates(const MemoryWorkload& workload);

/// Tables: planners by size of memory, whose gain is whose, update policies.
[[nodiscard]] std::string memory_plan_text(
    const MemoryWorkload& workload,
    std::span<const ComparedMemory> memories,
    std::span<const ComparedUpdate> updates);
/// The same as JSON, bytes and seconds.
[[nodiscard]] std::string memory_plan_json(
    const MemoryWorkload& workload,
    std::span<const ComparedMemory> memories,
    std::span<const ComparedUpdate> updates);

}  // namespace switchfold
