// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/symmetric/block_barrier.h"

#include <algorithm>

namespace switchfold {

namespace {
constexpr std::uint32_t kCounterBytes = 4;
}

BlockBarriers::BlockBarriers(
    Fabric& fabric, const CollectiveSpec& spec, const ReductionGroup* group, std::uint32_t client,
    std::uint32_t blocks) :
    fabric_(fabric),
    ranks_(spec.ranks),
    group_(group),
    client_(client),
    blocks_(blocks),
    counters_(spec.ranks.size() * blocks * kBarriers) {}

void BlockBarriers::arrive(std::uint32_t position, std::uint32_t block, std::uint64_t tag) {
    const Fabric::Transfer store{
        .kind = group_ != nullptr ? PacketKind::kMulticastWrite : PacketKind::kWrite,
        .payload = kCounterBytes,
        .tag = tag,
        .client = client_,
        .slot = block};
    if (group_ != nullptr) {
        fabric_.send(*group_, position, store);
        return;
    }
    for (std::uint32_t peer = 0; peer < ranks_.size(); ++peer)
        if (peer != position)
            fabric_.send(fabric_.connect(ranks_[position], ranks_[peer]), store);
}

OptionalTime
BlockBarriers::count(std::uint32_t position, std::uint32_t block, Which which, Time visible) {
    Counter& counter = counters_[(std::size_t{position} * blocks_ + block) * kBarriers + which];
    counter.last = std::max(counter.last, visible);
    // A store through the switch also arrives at the storing rank.
    const auto all = static_cast<std::uint32_t>(ranks_.size()) - (group_ != nullptr ? 0 : 1);
    if (++counter.come < all)
        return std::nullopt;
    return counter.last;
}

}  // namespace switchfold
