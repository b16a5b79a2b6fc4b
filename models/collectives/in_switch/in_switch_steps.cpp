// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/in_switch_steps.h"

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

std::uint64_t registered_chunk(
    std::uint32_t ranks, std::uint32_t channels, std::uint64_t bytes, std::uint64_t grain) {
    const std::uint64_t part = part_of_channel(bytes, channels, 0, grain).bytes;
    return std::max(grain, round_up((part + ranks - 1) / ranks, grain));
}

}  // namespace

std::uint64_t nvls_chunk(Bytes largest_chunk, std::uint64_t ways, std::uint64_t bytes) {
    std::uint64_t chunk = largest_chunk.count();
    const auto limit = [&](std::uint64_t chunks, std::uint64_t most) {
        if (bytes < chunks * ways * chunk)
            chunk = std::min(chunk, most);
    };
    limit(64, 64 << 10);
    limit(8, 32 << 10);
    limit(2, 16 << 10);
    return std::max(chunk / kGrain * kGrain, kGrain);
}

MovedBytes moved_bytes(const OperandFormat& format) {
    if (!format.quantised.used())
        return {};
    const std::uint32_t width = width_of(format.type);
    return {
        format.quantised.at == QuantisedAt::kGpu ? width : 1U, width,
        std::max<std::uint64_t>(kGrain, format.quantised.block_bytes(width))};
}

InSwitchShape in_switch_shape(
    const CollectiveParams& params, std::uint32_t ranks, std::uint32_t channels,
    std::uint64_t bytes, bool registered, const MovedBytes& moved) {
    const std::uint32_t warps = params.in_switch_threads / kWarpThreads;
    std::uint32_t reduce = ranks <= 6 ? 7 : 5;
    if (warps <= reduce + 1)
        reduce = std::max(1U, warps / 2);
    // With registered buffers the user's own are the multicast buffers: nothing is copied, and one
    // barrier each end will do.
    const std::uint64_t chunk =
        registered ? registered_chunk(ranks, channels, bytes, moved.grain)
                   : round_up(
                         moved.sent * nvls_chunk(
                                          params.in_switch_chunk, std::uint64_t{channels} * ranks,
                                          bytes / moved.sent),
                         moved.grain);
    const std::uint64_t align =
        registered ? moved.grain : std::min(round_up(kLastChunk * moved.sent, moved.grain), chunk);
    const auto round =
        static_cast<std::uint32_t>(round_up(kWarpReduce * moved.received, moved.grain));
    const std::uint32_t reducers = registered ? std::max(3U, warps) - 2 : reduce;
    return {
        NvlsChunks::contiguous(bytes, channels, ranks, chunk, align, moved.grain),
        chunk,
        workers_of((warps - reduce + 1) / 2),
        std::max(1U, (warps - reduce) / 2),
        workers_of(reducers) * round,
        round};
}

RoundsInPacket rounds_in_packet(const PullLoad& load) {
    const std::uint64_t much = load.links == 1 ? 4 : 6;  // times what links carry
    constexpr std::uint64_t kManyAnswers = 1 << 22;      // of members to all requests
    constexpr std::uint64_t kMost = 16;
    if (load.registered && load.links > 1)
        return {};
    if (load.asked < much * load.held || load.rounds * load.heads < kManyAnswers)
        return {};
    return {static_cast<std::uint32_t>(std::clamp<std::uint64_t>(load.room / 2, 1, kMost))};
}

StageWarps
stage_warps(const CollectiveParams& params, StageRole role, std::uint32_t ranks, bool registered) {
    constexpr std::uint32_t kWarps = 20;
    constexpr std::uint32_t kLeftToCopy = 2;  // of registered buffers: they only post and wait
    std::uint32_t reduce = 5;
    std::uint32_t spread = 0;
    std::uint32_t copy = kWarps;  // those that scatter and those that gather
    switch (role) {
    case StageRole::kTreeRoot:
        reduce = registered ? kWarps - kLeftToCopy : ranks <= 6 ? 7 : 5;
        break;
    case StageRole::kTreeNode:
        spread = registered ? (kWarps - kLeftToCopy) / 2 - 1 : 4;
        reduce = registered ? kWarps - kLeftToCopy - spread : reduce;
        break;
    case StageRole::kAggregation:
        reduce = 3;
        spread = 2;
        break;
    case StageRole::kReduceScatter:
        reduce = 12;
        break;
    case StageRole::kAllGather:
        reduce = 0;
        spread = 12;
        break;
    }
    copy -= reduce + spread;
    const bool both = role != StageRole::kReduceScatter && role != StageRole::kAllGather;
    const std::uint32_t warps = params.in_switch_threads / kWarpThreads;
    const auto share = [&](std::uint32_t of_all) {
        return of_all == 0 ? 0 : std::max(1U, of_all * warps / kWarps);
    };
    // Who only receives has nothing to post.
    const bool posts = role != StageRole::kReduceScatter;
    const std::uint32_t reducers = posts ? workers_of(share(reduce)) : share(reduce);
    const std::uint32_t spreaders = workers_of(share(spread));
    StageWarps out;
    out.scatter_workers = workers_of(share(both ? (copy + 1) / 2 : copy));
    out.gather_workers = share(both ? copy / 2 : copy);
    out.reduce_window = reducers * kWarpReduce;
    out.spread_window = spreaders * kWarpReduce;
    out.round = kWarpReduce;
    const double seconds =
        std::max(to_seconds(copy_round_time(params, Bytes(out.spread_window))), 1e-12);
    out.spread_rate = Bandwidth(static_cast<std::uint64_t>(out.spread_window / seconds));
    return out;
}

Time copy_round_time(const CollectiveParams& params, Bytes of_all_warps) {
    return params.in_switch_copy_round +
           serialization_time(of_all_warps, params.in_switch_copy_rate);
}

Time copy_time(
    const CollectiveParams& params, std::uint32_t workers, std::uint32_t busy,
    std::uint64_t bytes) {
    const std::uint64_t hunks = (bytes + kWarpCopy - 1) / kWarpCopy;
    const auto rest = static_cast<std::uint32_t>(hunks % workers);
    const Time whole = copy_round_time(params, Bytes(busy * kWarpCopy)) * (hunks / workers);
    if (rest == 0)
        return whole;
    return whole + copy_round_time(params, Bytes((busy - workers + rest) * kWarpCopy));
}

Poll poll_until(Time start, Time round, Time event) {
    const std::uint64_t half = round.count() / 2;
    std::uint64_t polls = 0;
    if (event > start + Time(half) && round.count() > 0)
        polls = (event.count() - start.count() - half + round.count() - 1) / round.count();
    return {start + round * (polls + 1), start + round * polls + Time(half)};
}

}  // namespace switchfold
