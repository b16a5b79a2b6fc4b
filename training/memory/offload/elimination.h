// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/offload/staging.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace switchfold {

/// Step of the dynamic programme that decides one candidate: retained or not.
struct OffloadStage {
    std::uint32_t candidate = 0;  ///< takes the next free flag
    /// A window whose candidates are now all decided, with those in it by flag.
    struct Check {
        std::uint64_t fixed = 0;
        std::vector<std::pair<std::uint32_t, std::uint64_t>> open;  ///< flag, bytes
    };
    std::vector<Check> checks;
    std::vector<std::uint32_t> dropped;  ///< flags that no later window needs, ascending
    std::uint32_t flags = 0;  ///< number of flags before this stage, and the index of its own
};

/// An order of candidates for a dynamic programme that keeps few flags open at a time. A chain of
/// layers folds by itself: candidates seen by a layer's forward and backward come together.
class EliminationOrder {
public:
    /// Only windows that can exceed `least` count, and only those not contained in another. \pre
    /// sizes are in the programme's unit (bytes or granules).
    EliminationOrder(const OffloadProblem& problem, std::uint64_t least);

    /// Most flags open at a time.
    [[nodiscard]] std::uint32_t width() const { return width_; }
    /// Windows that may bind, none contained in another.
    [[nodiscard]] const std::vector<OffloadWindow>& windows() const { return windows_; }
    /// The stages, if no window may hold more than `most` offloaded.
    [[nodiscard]] std::vector<OffloadStage> stages(std::uint64_t most) const;

private:
    class Walk;

    const OffloadProblem& problem_;
    std::vector<OffloadWindow> windows_;
    std::vector<std::vector<std::uint32_t>> seen_by_;  ///< windows, by candidate
    std::vector<std::uint32_t> order_;
    std::uint32_t width_ = 0;
};

}  // namespace switchfold
