// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/parameters.h"
#include "models/collectives/step.h"
#include "sim/core/units.h"

#include <cstdint>

namespace switchfold {

/// How an in-switch all-reduce cuts a buffer, and what its warps can have under way: NCCL's NVLS
/// (device/all_reduce.h; enqueue.cc:2258-2275).
struct InSwitchShape {
    std::uint32_t ranks = 0;
    std::uint32_t channels = 0;
    std::uint64_t bytes = 0;
    std::uint64_t chunk = 0;            ///< of one head, one channel, one loop
    std::uint64_t align = 16;           ///< the last loop's chunk is a multiple of it
    std::uint32_t scatter_workers = 0;  ///< warps that copy
    std::uint32_t gather_workers = 0;
    std::uint32_t reduce_window = 0;  ///< bytes that the reduce warps of a block ask for at once
    std::uint32_t reduce_round = 0;   ///< of which one warp asks for so many, in one go

    [[nodiscard]] Part part(std::uint32_t channel) const;
    [[nodiscard]] std::uint64_t loops(const Part& part) const;
    /// Bytes of all heads in a loop.
    [[nodiscard]] std::uint64_t loop_bytes(const Part& part, std::uint64_t loop) const;
    /// What this head reduces in a loop; may be empty in the last one.
    [[nodiscard]] Part piece(const Part& part, std::uint64_t loop, std::uint32_t head) const;
    /// Heads that have something to reduce in a loop.
    [[nodiscard]] std::uint32_t heads(const Part& part, std::uint64_t loop) const;
};

[[nodiscard]] InSwitchShape in_switch_shape(
    const CollectiveParams& params,
    std::uint32_t ranks,
    std::uint32_t channels,
    std::uint64_t bytes,
    bool registered);

/// Time in which `workers` warps copy so many bytes: in rounds of 4 KiB a warp, each of which waits
/// for its loads.
[[nodiscard]] Time
copy_time(const CollectiveParams& params, std::uint32_t workers, std::uint64_t bytes);

/// Polls go round one after the other from `start` on; each takes `round` and sees the counters
/// half way.
struct Poll {
    Time answered;  ///< of the first poll that sees what happened at `event`
    Time sampled;
};
[[nodiscard]] Poll poll_until(Time start, Time round, Time event);

}  // namespace switchfold
