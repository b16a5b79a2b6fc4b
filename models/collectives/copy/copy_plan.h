// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One copy of a batch: from the rank's own buffer to a peer's, its own, or all.
struct PlannedCopy {
    static constexpr std::uint32_t kToAll = UINT32_MAX;
    std::uint32_t to = 0;      ///< position in the group
    std::uint64_t from = 0;    ///< bytes into the own buffer
    std::uint64_t target = 0;  ///< bytes into the receiver's
    std::uint64_t bytes = 0;
};

/// What a collective by copy engines is cut into.
struct CopyCall {
    CollectiveKind kind = CollectiveKind::kAllGather;
    std::uint32_t ranks = 0;
    std::uint32_t root = 0;   ///< position of who broadcasts, gathers or scatters
    std::uint64_t bytes = 0;  ///< as nccl-tests counts them
    std::uint32_t element_bytes = 1;
    bool multicast = false;
};

/// The batches of the member at `position`, one after the other with everybody (NCCL ce_coll.cc):
/// all copies at once, the own one among them, peers in turn from the next on. More than 8 copies
/// of 512 MiB or more go in rounds of a piece each, so that nobody runs ahead.
[[nodiscard]] std::vector<std::vector<PlannedCopy>>
plan_copies(const CopyCall& call, std::uint32_t position);

}  // namespace switchfold
