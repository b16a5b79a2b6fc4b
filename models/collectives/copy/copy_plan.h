// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One copy of a batch: from the rank's own buffer to a peer's, its own, or all buffers.
struct PlannedCopy {
    static constexpr std::uint32_t kToAll = UINT32_MAX;
    std::uint32_t to = 0;      ///< position in the group
    std::uint64_t from = 0;    ///< byte offset in its own buffer
    std::uint64_t target = 0;  ///< byte offset in the receiver's buffer
    std::uint64_t bytes = 0;
};

/// A collective to be divided into copies.
struct CopyCall {
    CollectiveKind kind = CollectiveKind::kAllGather;
    std::uint32_t ranks = 0;
    std::uint32_t root = 0;   ///< position of the rank that broadcasts, gathers, scatters or sends
    std::uint64_t bytes = 0;  ///< as counted by nccl-tests
    std::uint32_t element_bytes = 1;
    bool multicast = false;
};

/// The batches of the member at `position`, synchronised with all members (NCCL ce_coll.cc): all
/// copies at once, including the local one, with peers in order from the next one on. More than 8
/// copies of 512 MiB or more run in rounds of one piece each, so that no member runs ahead.
[[nodiscard]] std::vector<std::vector<PlannedCopy>>
plan_copies(const CopyCall& call, std::uint32_t position);

}  // namespace switchfold
