// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/memory/contention.h"
#include "sim/machine/outcome.h"
#include "sim/output/result.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace switchfold {

/// A mechanism by which communication slows kernels, and the member of a report that holds its
/// share.
struct Mechanism {
    bool Contention::*on;
    double SlowdownByCause::*share;
};
inline constexpr Mechanism kMechanisms[] = {
    {&Contention::sm, &SlowdownByCause::sm},
    {&Contention::l2, &SlowdownByCause::l2},
    {&Contention::hbm, &SlowdownByCause::hbm},
    {&Contention::latency, &SlowdownByCause::latency},
    {&Contention::completion, &SlowdownByCause::completion},
    {&Contention::clock, &SlowdownByCause::clock}};
inline constexpr std::size_t kMechanismCount = std::size(kMechanisms);

/// Some of kMechanisms: bit i is kMechanisms[i].
using MechanismSet = std::uint32_t;
inline constexpr MechanismSet kAllMechanisms = (1U << kMechanismCount) - 1;
/// That of one member of Contention.
[[nodiscard]] MechanismSet mechanism_of(bool Contention::*on);

/// The runs that tell the causes where a machine has the mechanisms `there`: each says which
/// mechanisms are on, those that the machine lacks always. All of them, none, each one alone, and
/// all but each.
[[nodiscard]] std::set<MechanismSet> cause_runs(MechanismSet there);

/// Divides `whole` into causes. slowdown(on) is that of one of cause_runs(there). A cause is the
/// mean of what its mechanism adds to none and what goes away without it. What that leaves of all
/// mechanisms together is divided among them as both values of each differ, since those act on
/// others. So causes add up to the whole, whatever their order, a mechanism without effect has
/// none, and they are Shapley's values where only pairs of mechanisms act on each other. `other` is
/// the slowdown with every mechanism off. `whole` may cover more steps than the runs, so causes are
/// scaled to it.
[[nodiscard]] SlowdownByCause find_causes(
    double whole, MechanismSet there, const std::function<double(MechanismSet on)>& slowdown);

/// Time of the backward pass's kernels by class, over all ranks, for the first `steps` steps.
struct ClassTime {
    std::uint64_t kernels = 0;
    double isolated_us = 0;
    double taken_us = 0;
};
[[nodiscard]] std::map<std::string, ClassTime>
class_times(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps);

/// The classes' results. `first`: their times in the first steps, by the mechanisms that were on;
/// without those there are no causes.
[[nodiscard]] std::vector<KernelClassResult> kernel_classes(
    const ExecutionGraph& graph, const Outcome& outcome, MechanismSet there,
    const std::map<MechanismSet, std::map<std::string, ClassTime>>& first);

/// The `count` kernel names that lost most time. Times are per rank and step.
[[nodiscard]] std::vector<WorstKernelResult>
worst_kernels(const ExecutionGraph& graph, const Outcome& outcome, std::size_t count);

}  // namespace switchfold
