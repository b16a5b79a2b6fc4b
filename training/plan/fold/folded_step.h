// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/fold/folded_collectives.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <optional>
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
/// each distinct pass once, on the groups of one machine, with fewer blocks if it has many. That
/// is exact if the passes of one device
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
    /// For a plan that can be folded. `ways`: as of FoldedGroups.
    FoldedStep(
        const TrainingStep& step, std::uint32_t machine, std::vector<std::uint32_t> ways = {});

    /// Everything that is measured, in one graph: what scenarios are checked with.
    [[nodiscard]] const ExecutionGraph& probe() const { return probe_; }
    /// Operations of rank 0: something lasts from the end of `after` to the begin of `before`.
    struct Marks {
        std::uint32_t after = 0;
        std::uint32_t before = 0;
    };
    /// A pass that is one kernel, or one with fewer of its equal parts: it takes `further` times
    /// as long as `parts` longer.
    struct Piece {
        Marks all;
        Marks parts;
        double further = 0;
    };
    /// The passes that are one kernel, one after another; without operations if there are none.
    struct Passes {
        ExecutionGraph graph;
        std::vector<Piece> pieces;
    };
    [[nodiscard]] const Passes& whole() const { return whole_; }
    /// With few of their equal parts where they have many, as a network's blocks are.
    [[nodiscard]] const Passes& shorter() const { return shorter_; }
    /// How many of such parts are run there; none where no pass has many.
    struct RunParts {
        std::uint32_t run = 0;
        std::uint32_t paced = 0;  ///< the last of these, whose pace the others take
    };
    [[nodiscard]] std::optional<RunParts> run_parts() const;
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
    static Passes write_passes(
        const TrainingStep& step, std::uint32_t machine, const Recorder& recorder, bool shorter);

    FoldedGroups groups_;
    bool by_passes_;
    ExecutionGraph skeleton_;
    std::vector<Use> passes_of_;
    std::vector<Use> collectives_of_;
    std::vector<CollectiveFamily> families_;
    ExecutionGraph probe_;
    Passes whole_;
    Passes shorter_;
};

}  // namespace switchfold
