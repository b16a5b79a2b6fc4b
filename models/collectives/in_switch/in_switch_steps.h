// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/values.h"
#include "models/collectives/in_switch/nvls_chunks.h"
#include "models/collectives/parameters.h"
#include "models/collectives/warp.h"

#include <algorithm>
#include <cstdint>

namespace switchfold {

/// How an in-switch all-reduce cuts a buffer, and what its warps can have under way: NCCL's NVLS
/// (device/all_reduce.h; enqueue.cc:2258-2275).
struct InSwitchShape {
    NvlsChunks pieces;
    std::uint64_t chunk = 0;            ///< of one head, one channel, one loop
    std::uint32_t scatter_workers = 0;  ///< warps that copy
    std::uint32_t gather_workers = 0;
    std::uint32_t reduce_window = 0;  ///< bytes that the reduce warps of a block ask for at once
    std::uint32_t reduce_round = 0;   ///< of which one warp asks for so many, in one go
};

/// What a warp copies in a round: 32 threads, 16 bytes, 8 loads each (ncclCollUnroll, sm80+).
inline constexpr std::uint64_t kWarpCopy = 32ULL * 16 * 8;

/// Chunk of one head inside a machine (NCCL enqueue.cc:2258-2275): it shrinks until there is work
/// for each of the `ways`, heads times channels.
[[nodiscard]] std::uint64_t
nvls_chunk(Bytes largest_chunk, std::uint64_t ways, std::uint64_t bytes);

/// Of the elements' bytes, how many a byte stands for where 8-bit numbers move.
struct MovedBytes {
    std::uint64_t sent = 1;        ///< in buffers that switches read, and from members
    std::uint64_t received = 1;    ///< in sums
    std::uint64_t grain = kGrain;  ///< whole blocks, of which everything is cut
};
[[nodiscard]] MovedBytes moved_bytes(const OperandFormat& format);

[[nodiscard]] InSwitchShape in_switch_shape(
    const CollectiveParams& params, std::uint32_t ranks, std::uint32_t channels,
    std::uint64_t bytes, bool registered, const MovedBytes& moved = {});

/// How many rounds of its warps one packet of a long pull stands for.
struct RoundsInPacket {
    std::uint32_t most = 1;
    /// A share of those that the block has done, and of those that it has still to do: the first
    /// and the last are single, so that the pipeline fills and drains as it does round by round.
    [[nodiscard]] std::uint64_t of(std::uint64_t done, std::uint64_t left) const {
        constexpr std::uint64_t kShare = 8;
        return std::clamp<std::uint64_t>(std::min(done, left) / kShare, 1, most);
    }
};
/// What a pull asks of the machine.
struct PullLoad {
    std::uint64_t heads = 0;
    std::uint64_t rounds = 0;  ///< of all heads
    std::uint64_t asked = 0;   ///< bytes that the heads have asked each member for at once
    std::uint64_t held = 0;    ///< bytes that a member's links carry until a request is answered
    std::uint64_t links = 1;   ///< of a member, among which packets take turns
    bool registered = false;   ///< pulled from the user's buffers
    std::uint64_t room = 0;    ///< rounds that a reduction unit holds
};
/// Several only where the heads ask for so much at once that a packet more or less waits at each
/// member, and where the transfer is long. Several links need more: larger packets spread over them
/// less evenly (1 % on 30 GPUs of NVL72, much more in the few blocks of registered buffers).
[[nodiscard]] RoundsInPacket rounds_in_packet(const PullLoad& load);

/// What a block does in a collective whose heads pass sums on, beside scattering and gathering.
enum class StageRole : std::uint8_t {
    kTreeRoot,       ///< reduces, adds what the network brings, stores to all and sends on
    kTreeNode,       ///< some warps reduce and send; others store what comes back to all
    kAggregation,    ///< the same with a network that reduces (NVLS with SHARP)
    kReduceScatter,  ///< scatters and reduces only
    kAllGather,      ///< stores to all and gathers only
};

/// How the warps of such a block are shared out.
struct StageWarps {
    std::uint32_t scatter_workers = 0;  ///< warps that copy
    std::uint32_t gather_workers = 0;
    std::uint32_t reduce_window = 0;  ///< bytes that the reduce warps ask for at once
    std::uint32_t spread_window = 0;  ///< bytes that the storing warps have in hand at once
    std::uint32_t round = 0;          ///< of which one warp takes so many, in one go
    Bandwidth spread_rate;            ///< at which they read what they store
};
/// NCCL's shares of 20 warps (device/all_reduce.h, reduce_scatter.h, all_gather.h), or the same of
/// as many as there are. `ranks` are those of the whole group. `registered`: nobody copies, one
/// warp posts and one waits (all-reduces along trees and rings).
[[nodiscard]] StageWarps stage_warps(
    const CollectiveParams& params, StageRole role, std::uint32_t ranks, bool registered = false);

/// What tells the packets of a collective over heads apart.
struct PieceTag {
    std::uint32_t channel;
    std::uint32_t slot;  ///< of the pipeline that the loop is in
    std::uint32_t head;
    std::uint32_t unit;  ///< of the head's piece, or a byte of it
    /// In `unit`: tells stores from requests where a departure is all that comes back.
    static constexpr std::uint32_t kStore = 1U << 31U;
    [[nodiscard]] std::uint64_t pack() const {
        return std::uint64_t{channel} << 56U | std::uint64_t{slot} << 48U |
               std::uint64_t{head} << 32U | unit;
    }
    static PieceTag unpack(std::uint64_t tag) {
        return {
            static_cast<std::uint32_t>(tag >> 56U), static_cast<std::uint32_t>(tag >> 48U) & 0xFFU,
            static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU, static_cast<std::uint32_t>(tag)};
    }
};

/// One round of copies through local memory: the latency of a warp's loads and stores, and what
/// their SM takes to move the bytes of all its warps.
[[nodiscard]] Time copy_round_time(const CollectiveParams& params, Bytes of_all_warps);

/// Time in which `workers` warps copy so many bytes in rounds of 4 KiB a warp. `busy` warps, these
/// among them, copy in each full round, and in the last one only those workers that still have
/// some. Warps do not wait for each other between pieces (prims_simple.h ScatterGatherOp), but
/// those that have a part more have it in every piece.
[[nodiscard]] Time copy_time(
    const CollectiveParams& params, std::uint32_t workers, std::uint32_t busy, std::uint64_t bytes);

/// Polls go round one after the other from `start` on; each takes `round` and sees the counters
/// half way.
struct Poll {
    Time answered;  ///< of the first poll that sees what happened at `event`
    Time sampled;
};
[[nodiscard]] Poll poll_until(Time start, Time round, Time event);

}  // namespace switchfold
