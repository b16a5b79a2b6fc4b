// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch_steps.h"

#include <algorithm>

namespace switchfold {

namespace {

/// What a warp reduces through the switch in a round: 64 bytes a thread (ncclNvlsUnrollBytes).
constexpr std::uint32_t kWarpReduce = 32 * 64;
/// The last loop's chunks (all_reduce.h: alignUp(..., 16384 / sizeof(T))).
constexpr std::uint64_t kLastChunk = 16'384;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

/// One warp of a group that stores fences and posts while the others go on, where the group has
/// three (NCCL_SIMPLE_EXTRA_GROUP_IF_NTHREADS_GE).
std::uint32_t workers_of(std::uint32_t warps) {
    return warps >= 3 ? warps - 1 : std::max(1U, warps);
}

std::uint64_t registered_chunk(std::uint32_t ranks, std::uint32_t channels, std::uint64_t bytes) {
    const std::uint64_t part = part_of_channel(bytes, channels, 0, kGrain).bytes;
    return std::max(kGrain, round_up((part + ranks - 1) / ranks, kGrain));
}

}  // namespace

std::uint64_t nvls_chunk(Bytes largest_chunk, std::uint64_t ways, std::uint64_t bytes) {
    const std::uint64_t largest = largest_chunk.count();
    std::uint64_t chunk = largest;
    if (bytes < 64 * ways * largest)
        chunk = largest / 2;
    if (bytes < 8 * ways * largest / 2)
        chunk = largest / 4;
    if (bytes < 2 * ways * largest / 4)
        chunk = largest / 8;
    return std::max(chunk / kGrain * kGrain, kGrain);
}

InSwitchShape in_switch_shape(
    const CollectiveParams& params,
    std::uint32_t ranks,
    std::uint32_t channels,
    std::uint64_t bytes,
    bool registered) {
    const std::uint32_t warps = params.in_switch_threads / kWarp;
    std::uint32_t reduce = ranks <= 6 ? 7 : 5;
    if (warps <= reduce + 1)
        reduce = std::max(1U, warps / 2);
    // With registered buffers the user's own are the multicast buffers: nothing is copied, and one
    // barrier each end will do.
    const std::uint64_t chunk =
        registered ? registered_chunk(ranks, channels, bytes)
                   : nvls_chunk(params.in_switch_chunk, std::uint64_t{channels} * ranks, bytes);
    const std::uint64_t align = registered ? kGrain : std::min(kLastChunk, chunk);
    const std::uint32_t reducers = registered ? std::max(3U, warps) - 2 : reduce;
    return {
        HeadPieces::contiguous(bytes, channels, ranks, chunk, align),
        chunk,
        workers_of((warps - reduce + 1) / 2),
        std::max(1U, (warps - reduce) / 2),
        workers_of(reducers) * kWarpReduce,
        kWarpReduce};
}

Time copy_time(const CollectiveParams& params, std::uint32_t workers, std::uint64_t bytes) {
    const std::uint64_t hunks = (bytes + kWarpCopy - 1) / kWarpCopy;
    return params.in_switch_copy_round * ((hunks + workers - 1) / workers);
}

Poll poll_until(Time start, Time round, Time event) {
    const std::uint64_t half = round.count() / 2;
    std::uint64_t polls = 0;
    if (event > start + Time(half) && round.count() > 0)
        polls = (event.count() - start.count() - half + round.count() - 1) / round.count();
    return {start + round * (polls + 1), start + round * polls + Time(half)};
}

}  // namespace switchfold
