// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Barriers between corresponding thread blocks of all ranks: each increments a counter in every
/// rank's memory, once through the switch or by a store to each peer, and polls its own. A kernel
/// has two: at its entry (peers' buffers are ready) and at its exit (all stores are visible).
class BlockBarriers {
public:
    enum Which : std::uint32_t { kEntry, kExit, kBarriers };
    /// Uses `group` if not null.
    BlockBarriers(
        Fabric& fabric, const CollectiveSpec& spec, const ReductionGroup* group,
        std::uint32_t client, std::uint32_t blocks);

    /// The block of the member at `position` arrives; its stores carry `tag`.
    void arrive(std::uint32_t position, std::uint32_t block, std::uint64_t tag);
    /// A store has arrived at `position`, visible from `visible` on. \returns when all are visible,
    /// if this was the last.
    OptionalTime count(std::uint32_t position, std::uint32_t block, Which which, Time visible);

private:
    struct Counter {
        std::uint32_t come = 0;
        Time last;
    };
    Fabric& fabric_;
    const std::vector<std::uint32_t>& ranks_;
    const ReductionGroup* group_;
    std::uint32_t client_;
    std::uint32_t blocks_;
    std::vector<Counter> counters_;  ///< by position, block and barrier
};

}  // namespace switchfold
