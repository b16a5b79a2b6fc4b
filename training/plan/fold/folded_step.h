// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Why one rank of each pipeline device cannot represent all ranks with its layers and samples;
/// empty if it can. `machine`: ranks per machine.
[[nodiscard]] std::string why_not_folded(const PlannedStep& step, std::uint32_t machine);

/// A step in which one rank of each device represents its tensor- and context-parallel group and
/// its replicas, which do the same at the same time. The probe runs each distinct pass once, on the
/// groups of one machine, and each distinct collective of replicas once, on all ranks of a device.
/// The step then has one kernel per pass and collectives of fixed duration, with the times taken
/// from the probe; messages between devices are simulated.
/// This is exact if the passes of one device share no links with other traffic (a machine's ranks
/// on one switch or of one device), messages of a group's ranks share none (one NIC per GPU), and
/// messages are blocking. Otherwise the slowdown that messages cause beside them is missing.
class FoldedStep {
public:
    /// For a plan that can be folded. `own_ways`: each GPU of a machine has links of its own to the
    /// others, so that one rank of a group shows the time in which all reduce their parts.
    FoldedStep(const PlannedStep& step, std::uint32_t machine, bool own_ways = false);

    [[nodiscard]] const ExecutionGraph& probe() const { return probe_; }
    /// A piece lasts from the end of operation `after` to the begin of operation `before` on the
    /// probe's rank 0.
    struct Marks {
        std::uint32_t after = 0;
        std::uint32_t before = 0;
    };
    [[nodiscard]] const std::vector<Marks>& pieces() const { return marks_; }
    /// The step, given the times of the pieces; represented ranks do nothing.
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
