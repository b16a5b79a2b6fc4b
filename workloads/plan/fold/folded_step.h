// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/step/plan_step.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Why one rank of each device of a pipeline cannot stand for all that share its layers and
/// samples; empty if it can. `machine`: ranks of a machine.
[[nodiscard]] std::string why_not_folded(const PlannedStep& step, std::uint32_t machine);

/// A step in which one rank of each device stands for its tensor- and context-parallel group and
/// for its replicas, which do the same at the same time. The probe runs each distinct pass once, on
/// the groups of one machine, and each distinct collective of replicas once, on all ranks of a
/// device. The step then has one kernel a pass and the collectives with the times that the probe
/// took; messages between devices run.
///
/// That is exact where passes of one device meet nobody else's traffic (a machine's ranks on a
/// switch or of one device), messages of a group's ranks do not meet (a NIC a GPU), and where
/// messages are blocking; else what they slow beside them is left out.
class FoldedStep {
public:
    /// For a plan that can be folded.
    FoldedStep(const PlannedStep& step, std::uint32_t machine);

    [[nodiscard]] const ExecutionGraph& probe() const { return probe_; }
    /// A piece takes from the end of the one operation of the probe's rank 0 to the begin of the
    /// other.
    struct Marks {
        std::uint32_t after = 0;
        std::uint32_t before = 0;
    };
    [[nodiscard]] const std::vector<Marks>& pieces() const { return marks_; }
    /// The step, if the pieces take so long; ranks that others stand for do nothing.
    [[nodiscard]] ExecutionGraph graph(const std::vector<Time>& times) const;

private:
    struct Use {
        std::uint32_t rank = 0;
        std::uint32_t operation = 0;
        std::size_t piece = 0;
    };
    class Recorder;
    class ProbeWriter;

    ExecutionGraph skeleton_;
    std::vector<Use> uses_;
    ExecutionGraph probe_;
    std::vector<Marks> marks_;
};

}  // namespace switchfold
