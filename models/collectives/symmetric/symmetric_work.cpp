// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/symmetric/symmetric_work.h"

#include "models/collectives/warp.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint64_t kLoadBytes = 16;  // bytes
constexpr std::uint32_t kWarpsOfGroup = 4;
constexpr std::uint32_t kUnroll = 4;  // loads in flight per thread that works on peers
constexpr std::uint32_t kDeepUnroll = 8;
constexpr std::uint64_t kLineData = 8;  // data bytes per 16 bytes stored
constexpr std::uint32_t kPeersAtOnce = 2;

}  // namespace

SymmetricWork::SymmetricWork(
    const SymmetricMove& move, CollectiveKind kind, std::uint32_t ranks, std::uint32_t blocks,
    std::uint32_t threads, std::uint64_t bytes, std::uint32_t element_bytes, std::uint32_t unit) :
    blocks_(blocks) {
    const std::uint32_t warps = std::max(1U, threads / kWarpThreads);
    if (kind == CollectiveKind::kAllReduce && !move.lines)
        dealers_ = ranks;
    if (move.lines) {
        workers_ = warps;
        peers_at_once_ = ranks;
        add_phase(bytes, std::min<std::uint64_t>(unit / 2, kWarpThreads * kLineData * kUnroll));
        return;
    }
    if (move.source == Side::kSwitch || move.sink == Side::kSwitch) {
        workers_ = warps;
        add_phase(bytes, std::min<std::uint64_t>(unit, kWarpThreads * kLoadBytes * kDeepUnroll));
        return;
    }
    workers_ = std::max(1U, warps / kWarpsOfGroup);
    peers_at_once_ = kPeersAtOnce;
    const std::uint64_t threads_of_group = std::uint64_t{kWarpsOfGroup} * kWarpThreads;
    const std::uint64_t dealt = std::uint64_t{ranks} * blocks;
    const std::uint64_t wide = threads_of_group * kUnroll * kLoadBytes;
    const std::uint64_t narrow = threads_of_group * kUnroll * element_bytes;
    add_rounds(bytes, wide, wide * dealt);
    add_rounds(bytes, narrow, narrow * dealt);
    add_phase(bytes, threads_of_group * element_bytes);
}

void SymmetricWork::add_phase(std::uint64_t end, std::uint64_t piece) {
    const std::uint64_t begin = phases_.empty() ? 0 : phases_.back().end;
    if (end > begin)
        phases_.push_back({begin, end, piece});
}

void SymmetricWork::add_rounds(std::uint64_t bytes, std::uint64_t piece, std::uint64_t round) {
    const std::uint64_t begin = phases_.empty() ? 0 : phases_.back().end;
    add_phase(begin + (bytes - begin) / round * round, piece);
}

std::optional<Part> SymmetricWork::piece(
    std::uint32_t rank, std::uint32_t block, std::uint32_t worker, std::uint64_t index) const {
    const std::uint64_t every = std::uint64_t{dealers_} * blocks_ * workers_;
    const std::uint64_t place =
        (std::uint64_t{worker} * blocks_ + block) * dealers_ + (dealers_ == 1 ? 0 : rank);
    for (const Phase& phase : phases_) {
        const std::uint64_t count = phase.count();
        const std::uint64_t own = count > place ? (count - place + every - 1) / every : 0;
        if (index < own) {
            const std::uint64_t begin = phase.begin + (index * every + place) * phase.piece;
            return Part{begin, std::min(phase.piece, phase.end - begin)};
        }
        index -= own;
    }
    return std::nullopt;
}

}  // namespace switchfold
