// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/fold/folded_collectives.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <string>
#include <utility>
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
/// each distinct pass once, on the groups of one machine. That is exact if the passes of one device
/// share no links with other traffic (a machine's ranks on one switch or of one device), messages
/// of a group's ranks share none (one NIC per GPU), and messages are blocking. Otherwise the
/// slowdown that messages cause beside them is missing.
///
/// All other passes are written in full: those beside which gradients are reduced or weights
/// gathered, those in which tokens travel to experts, those of hosts that run ahead. Their
/// collectives take what a probe of their own measured, from when their kernel is resident on.
/// While they run, they hold their thread blocks, draw their bytes from the rank's memory, and keep
/// their buffers in its L2; they end later if kernels hold their bytes up. What is missing is what
/// collectives and messages take from each other on links.
class FoldedStep {
public:
    /// For a plan that can be folded. `own_ways`: as of FoldedGroups.
    FoldedStep(const TrainingStep& step, std::uint32_t machine, bool own_ways = false);

    /// Everything that is measured, in one graph: what scenarios are checked with.
    [[nodiscard]] const ExecutionGraph& probe() const { return probe_; }
    /// The passes that are one kernel, one after another; without operations if there are none.
    [[nodiscard]] const ExecutionGraph& passes() const { return passes_; }
    /// A pass lasts from the end of operation `after` to the begin of operation `before` on rank 0
    /// of `passes`.
    struct Marks {
        std::uint32_t after = 0;
        std::uint32_t before = 0;
    };
    [[nodiscard]] const std::vector<Marks>& pieces() const { return marks_; }
    [[nodiscard]] const std::vector<CollectiveFamily>& collectives() const { return families_; }
    [[nodiscard]] const FoldedGroups& groups() const { return groups_; }

    /// What was measured: the time of each piece, and by family each collective.
    struct Measured {
        std::vector<Time> pieces;
        std::vector<std::vector<MeasuredCollective>> collectives;
    };
    /// As if each piece and each collective took so long, and nothing else.
    [[nodiscard]] Measured each(Time time) const;
    /// The step; represented ranks do nothing.
    [[nodiscard]] ExecutionGraph graph(const Measured& measured) const;

private:
    /// An operation that is measured as number `index` of the pieces or of a family.
    struct Use {
        std::uint32_t rank = 0;
        std::uint32_t operation = 0;
        std::size_t index = 0;
        std::size_t family = 0;
    };
    class Recorder;
    void find_collectives();
    void write_passes(const TrainingStep& step, std::uint32_t machine, const Recorder& recorder);

    FoldedGroups groups_;
    bool by_passes_;
    ExecutionGraph skeleton_;
    std::vector<Use> passes_of_;
    std::vector<Use> collectives_of_;
    std::vector<CollectiveFamily> families_;
    ExecutionGraph probe_;
    ExecutionGraph passes_;
    std::vector<Marks> marks_;
};

}  // namespace switchfold
