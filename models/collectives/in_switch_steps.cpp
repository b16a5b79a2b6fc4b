// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch_steps.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint32_t kWarp = 32;
/// What a warp copies in a round: 32 threads, 16 bytes, 8 loads each (ncclCollUnroll, sm80+).
constexpr std::uint64_t kWarpCopy = 32ULL * 16 * 8;
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

}  // namespace

Part InSwitchShape::part(std::uint32_t channel) const {
    return part_of_channel(bytes, channels, channel, kGrain);
}

std::uint64_t InSwitchShape::loops(const Part& part) const {
    return (part.bytes + ranks * chunk - 1) / (ranks * chunk);
}

std::uint64_t InSwitchShape::loop_bytes(const Part& part, std::uint64_t loop) const {
    return std::min<std::uint64_t>(ranks * chunk, part.bytes - loop * ranks * chunk);
}

Part InSwitchShape::piece(const Part& part, std::uint64_t loop, std::uint32_t head) const {
    const std::uint64_t base = loop * ranks * chunk;
    const std::uint64_t left = part.bytes - base;
    const std::uint64_t even = round_up((left + ranks - 1) / ranks, align);
    const std::uint64_t size = std::min(chunk, even);
    const std::uint64_t begin = std::min(left, head * size);
    return {part.begin + base + begin, std::min(size, left - begin)};
}

std::uint32_t InSwitchShape::heads(const Part& part, std::uint64_t loop) const {
    const std::uint64_t size = piece(part, loop, 0).bytes;
    const std::uint64_t wanted = (loop_bytes(part, loop) + size - 1) / size;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(ranks, wanted));
}

InSwitchShape in_switch_shape(
    const CollectiveParams& params,
    std::uint32_t ranks,
    std::uint32_t channels,
    std::uint64_t bytes,
    bool registered) {
    InSwitchShape shape;
    shape.ranks = ranks;
    shape.channels = channels;
    shape.bytes = bytes;
    shape.reduce_round = kWarpReduce;
    const std::uint32_t warps = params.in_switch_threads / kWarp;
    std::uint32_t reduce = ranks <= 6 ? 7 : 5;
    if (warps <= reduce + 1)
        reduce = std::max(1U, warps / 2);
    shape.scatter_workers = workers_of((warps - reduce + 1) / 2);
    shape.gather_workers = std::max(1U, (warps - reduce) / 2);
    if (registered) {
        // The user's own buffers are the multicast buffers: nothing is copied, and one barrier each
        // end will do.
        shape.reduce_window = workers_of(std::max(3U, warps) - 2) * kWarpReduce;
        shape.chunk = std::max(kGrain, round_up((shape.part(0).bytes + ranks - 1) / ranks, kGrain));
        return shape;
    }
    shape.reduce_window = workers_of(reduce) * kWarpReduce;
    // The chunk shrinks until there is work for every head and channel.
    const std::uint64_t largest = params.in_switch_chunk.count();
    const std::uint64_t ways = std::uint64_t{channels} * ranks;
    shape.chunk = largest;
    if (bytes < 64 * ways * largest)
        shape.chunk = largest / 2;
    if (bytes < 8 * ways * largest / 2)
        shape.chunk = largest / 4;
    if (bytes < 2 * ways * largest / 4)
        shape.chunk = largest / 8;
    shape.chunk = std::max(shape.chunk / kGrain * kGrain, kGrain);
    shape.align = std::min(kLastChunk, shape.chunk);
    return shape;
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
