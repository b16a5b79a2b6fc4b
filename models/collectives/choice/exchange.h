// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Whether the collective consists of direct messages between ranks.
[[nodiscard]] bool is_exchange(CollectiveKind kind);

/// Configuration of an exchange in which each rank sends `bytes` to each of the `served` ranks, its
/// own among them if it sends to all: NCCL's grouped send and receive (graph/paths.cc
/// ncclTopoComputeP2pChannels, enqueue.cc addP2pToPlan). NCCL divides a power of two of blocks
/// among the ranks, whether a rank serves all of them or one; a peer gets more if its parts would
/// be too long, fewer if they would be too short. The kernel has the blocks of those that it
/// serves. Short messages use LL.
[[nodiscard]] CollectiveConfig choose_exchange(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    Bytes bytes, std::uint32_t served);

/// What NCCL decides for one message of an exchange, by its own size.
struct MessageChoice {
    Protocol protocol = Protocol::kSimple;
    std::uint32_t channels = 1;
};
/// Configuration of an exchange whose messages differ.
struct UnevenChoice {
    CollectiveConfig choice;              ///< protocol and chunk are the largest message's
    std::vector<MessageChoice> messages;  ///< in the order of UnevenExchange::bytes
};
/// The kernel has the blocks that the message with the most channels needs. Equal messages get the
/// choice of the even exchange. What stays on its rank has no protocol, so it takes the largest
/// message's.
[[nodiscard]] UnevenChoice choose_uneven_exchange(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const UnevenExchange& exchange);

/// Of `peers` that it serves, those that a thread block of the exchange serves at once.
[[nodiscard]] std::uint32_t peers_at_once(const CollectiveConfig& choice, std::uint32_t peers);

/// Share of a ring's warps that move one peer's data in each direction, in a thread block that
/// serves `peers` at once (sendrecv.h: 20 warps where a ring has 16 and one that posts; they are
/// divided evenly, up to eight peers at once, and three or more that send have one that posts).
[[nodiscard]] double share_of_warps(std::uint32_t peers);

}  // namespace switchfold
