// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/memory/contention.h"
#include "sim/output/result.h"
#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// A mechanism by which communication slows kernels, and the member of a report that holds its
/// share.
struct Mechanism {
    bool Contention::*on;
    double SlowdownByCause::*share;
};
/// Mechanisms that are switched off one at a time to find causes.
inline constexpr Mechanism kMechanisms[] = {
    {&Contention::sm, &SlowdownByCause::sm},
    {&Contention::l2, &SlowdownByCause::l2},
    {&Contention::hbm, &SlowdownByCause::hbm},
    {&Contention::latency, &SlowdownByCause::latency},
    {&Contention::clock, &SlowdownByCause::clock}};
inline constexpr std::size_t kMechanismCount = std::size(kMechanisms);

/// Each cause is the slowdown removed by switching its mechanism off; `other` is the rest of
/// `whole`. slowdown(i) is the slowdown without mechanism i, slowdown(kMechanismCount) that with
/// all of them. `whole` may cover more steps than those runs, so causes are scaled to it.
[[nodiscard]] SlowdownByCause
find_causes(double whole, const std::function<double(std::size_t without)>& slowdown);

/// Time of the backward pass's kernels by class, over all ranks, for the first `steps` steps.
struct ClassTime {
    std::uint64_t kernels = 0;
    double isolated_us = 0;
    double taken_us = 0;
};
[[nodiscard]] std::map<std::string, ClassTime>
class_times(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps);

/// The `count` kernel names that lost most time. Times are per rank and step.
[[nodiscard]] std::vector<WorstKernelResult>
worst_kernels(const ExecutionGraph& graph, const Outcome& outcome, std::size_t count);

}  // namespace switchfold
