// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/plan_step.h"
#include "workloads/fold/folded_graph.h"
#include "workloads/graph/slow_ranks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Why one rank of each pipeline device cannot represent all ranks with its layers and samples;
/// empty if it can. `machine`: ranks per machine.
[[nodiscard]] std::string why_not_folded(const TrainingStep& step, std::uint32_t machine);

/// Whether every pass of a folded step is one kernel with the time that its probe took, and no
/// collective of replicas runs beside one.
[[nodiscard]] bool folds_by_passes(const TrainingStep& step);

/// A step in which one rank of each device represents its tensor- and context-parallel group and
/// its replicas, which do the same at the same time.
///
/// A pass that nothing but messages can meet is one kernel. Its time comes from a probe that runs
/// each distinct pass once, on the groups of one machine, with fewer blocks if it has many. That
/// is exact if the passes of one device
/// share no links with other traffic (a machine's ranks on one switch or of one device), messages
/// of a group's ranks share none (one NIC per GPU), and messages are blocking. Otherwise the
/// slowdown that messages cause beside them is missing.
///
/// All other passes are written in full: those beside which gradients are reduced or weights
/// gathered, those in which tokens travel to experts, those of hosts that run ahead.
///
/// With slow ranks all passes are: each kind of rank is simulated that waits in another way for
/// them, such as those of their tensor-parallel groups and their replicas.
/// `ways`: as of GroupOrbits. \pre the plan can be folded.
[[nodiscard]] FoldedGraph folded_step(
    const TrainingStep& step, std::uint32_t machine, std::vector<std::uint32_t> ways = {},
    const std::vector<SlowRank>& slow = {});
/// The same of ranks that differ, as by their GPUs, each with a step (plan_step()): one of each
/// kind is kept. Collectives take what they take in their first group.
[[nodiscard]] FoldedGraph folded_step(
    const std::vector<const TrainingStep*>& by_rank, std::uint32_t machine,
    std::vector<std::uint32_t> ways, const std::vector<SlowRank>& slow);
/// By rank, the number of its step; empty where all have one.
[[nodiscard]] std::vector<std::uint32_t> kinds_of(const std::vector<const TrainingStep*>& by_rank);

/// How many of a pass's equal parts a probe runs; none where no pass has many.
struct RunParts {
    std::uint32_t run = 0;
    std::uint32_t paced = 0;  ///< the last of these, whose pace the others take
};
[[nodiscard]] std::optional<RunParts> run_parts(const FoldedGraph& folded);

}  // namespace switchfold
