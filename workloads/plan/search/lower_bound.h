// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/plan/step/plan_step.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// What links need at least, in seconds: nothing that a machine does to them is faster.
class LinkFloor {
public:
    LinkFloor() = default;
    LinkFloor(const LinkFloor&) = delete;
    LinkFloor& operator=(const LinkFloor&) = delete;
    virtual ~LinkFloor() = default;

    /// Of one collective over these ranks, from when the last of them has come. `bytes` as
    /// CollectiveOperation counts them.
    [[nodiscard]] virtual double collective(
        CollectiveKind kind, double bytes, const std::vector<std::uint32_t>& ranks) const = 0;
    /// That the collective keeps a GPU's links busy on the way out.
    [[nodiscard]] virtual double
    port(CollectiveKind kind, double bytes, std::size_t ranks) const = 0;
    /// Of a message, and that it keeps a GPU's links busy on the way out.
    [[nodiscard]] virtual double
    message(double bytes, std::uint32_t from, std::uint32_t to) const = 0;
};

/// What a step of a plan takes at least, in seconds: none of its parts can be hidden.
struct PlanBound {
    double arithmetic = 0;  ///< kernels of the fullest device, each as long as alone on the GPU
    double links = 0;       ///< what the fullest GPU sends, at the rate of its links
    double path = 0;        ///< the longest chain of passes, messages, collectives and updates
    [[nodiscard]] double seconds() const {
        return path > links ? (path > arithmetic ? path : arithmetic)
                            : (links > arithmetic ? links : arithmetic);
    }
};

/// Never above what the step takes where kernels take at least their isolated times and links give
/// at most what `floor` says. For plans that flush.
[[nodiscard]] PlanBound plan_bound(const PlannedStep& step, const LinkFloor& floor);

}  // namespace switchfold
