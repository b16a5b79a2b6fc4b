// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/pinning/staging.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace switchfold {

/// One more candidate is decided: pinned or not.
struct PinStage {
    std::uint32_t candidate = 0;  ///< gets the next free flag
    /// Windows all of whose candidates are decided now: what lies in them, by flag.
    struct Check {
        std::uint64_t fixed = 0;
        std::vector<std::pair<std::uint32_t, std::uint64_t>> open;  ///< flag, bytes
    };
    std::vector<Check> checks;
    std::vector<std::uint32_t> dropped;  ///< flags that no later window sees, ascending
    std::uint32_t flags = 0;             ///< before: this one's own is that number
};

/// The order in which a dynamic programme decides candidates, such that few flags are open at a
/// time. A chain of layers is folded by itself: what forward and backward of a layer see comes
/// together.
class EliminationOrder {
public:
    /// Windows that can exceed `least` count, those that lie within another do not. \pre sizes are
    /// those of the programme (bytes, or granules).
    EliminationOrder(const PinProblem& problem, std::uint64_t least);

    /// Flags open at the same time, at most.
    [[nodiscard]] std::uint32_t width() const { return width_; }
    /// Windows that may bind, none within another.
    [[nodiscard]] const std::vector<PinWindow>& windows() const { return windows_; }
    /// What to do, given that no window may hold more than `most` unpinned.
    [[nodiscard]] std::vector<PinStage> stages(std::uint64_t most) const;

private:
    class Walk;

    const PinProblem& problem_;
    std::vector<PinWindow> windows_;
    std::vector<std::vector<std::uint32_t>> seen_by_;  ///< windows, by candidate
    std::vector<std::uint32_t> order_;
    std::uint32_t width_ = 0;
};

}  // namespace switchfold
