// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Barriers of thread blocks with the like of every other rank: each adds one to a counter in every
/// rank's memory, once through the switch or by a store to each peer, and polls its own. There are
/// two in a kernel: at its entry (peers' buffers are ready) and at its exit (all stores are seen).
class BlockBarriers {
public:
    enum Which : std::uint32_t { kEntry, kExit, kBarriers };
    /// Through `group` where there is one.
    BlockBarriers(
        Fabric& fabric,
        const CollectiveSpec& spec,
        const ReductionGroup* group,
        std::uint32_t client,
        std::uint32_t blocks);

    /// The block of the member at `position` comes; `tag` of what it stores.
    void arrive(std::uint32_t position, std::uint32_t block, std::uint64_t tag);
    /// A store has come to `position`, to be seen from `visible` on. \returns when the last of all
    /// is seen, once it is that one.
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
    std::vector<Counter> counters_;  ///< by position, block and which
};

}  // namespace switchfold
