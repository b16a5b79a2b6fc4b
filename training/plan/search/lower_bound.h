// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/plan_step.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Lower bounds on times of links, in seconds: no simulated effect is faster.
class LinkFloor {
public:
    LinkFloor() = default;
    LinkFloor(const LinkFloor&) = delete;
    LinkFloor& operator=(const LinkFloor&) = delete;
    virtual ~LinkFloor() = default;

    /// Time of one collective over `ranks`, from the last rank's arrival. `bytes` as in
    /// CollectiveOperation.
    [[nodiscard]] virtual double collective(
        CollectiveKind kind, double bytes, const std::vector<std::uint32_t>& ranks) const = 0;
    /// Time for which the collective keeps a GPU's outgoing links busy.
    [[nodiscard]] virtual double
    port(CollectiveKind kind, double bytes, std::size_t ranks) const = 0;
    /// Time of a message, and time for which it keeps a GPU's outgoing links busy.
    [[nodiscard]] virtual double
    message(double bytes, std::uint32_t from, std::uint32_t to) const = 0;
};

/// Lower bounds on a plan's step, in seconds; none of these parts can be hidden.
struct PlanBound {
    double arithmetic = 0;  ///< kernels of the busiest device, at their isolated durations
    double links = 0;       ///< bytes sent by the busiest GPU, at the rate of its links
    double path = 0;        ///< longest chain of passes, messages, collectives and updates
    [[nodiscard]] double seconds() const {
        return path > links ? (path > arithmetic ? path : arithmetic)
                            : (links > arithmetic ? links : arithmetic);
    }
};

/// Never above the step's time if kernels take at least their isolated durations and links are no
/// faster than `floor`. For plans that flush.
[[nodiscard]] PlanBound plan_bound(const TrainingStep& step, const LinkFloor& floor);
/// The same on unlike GPUs. `by_rank`: each rank's step, which differ in their kernels' times.
[[nodiscard]] PlanBound
plan_bound(const std::vector<const TrainingStep*>& by_rank, const LinkFloor& floor);

}  // namespace switchfold
