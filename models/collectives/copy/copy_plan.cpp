// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/copy/copy_plan.h"

#include "models/collectives/running_collective.h"
#include "models/collectives/share.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::size_t kManyCopies = 8;
constexpr std::uint64_t kManyBytes = 512ULL << 20U;
/// Bytes of one copy per round.
constexpr std::uint64_t kCopyPiece = 16ULL << 20U;

std::vector<PlannedCopy> copies_of(const CopyCall& call, std::uint32_t position) {
    const std::uint32_t n = call.ranks;
    const std::uint64_t share = share_of(call.bytes, n, call.element_bytes);
    const bool root = position == call.root;
    std::vector<PlannedCopy> copies;
    for (std::uint32_t place = 1; place <= n; ++place) {
        const std::uint32_t peer = (position + place) % n;
        switch (call.kind) {
        case CollectiveKind::kAllGather:
            copies.push_back({peer, position * share, position * share, share});
            break;
        case CollectiveKind::kAllToAll:
            copies.push_back({peer, peer * share, position * share, share});
            break;
        case CollectiveKind::kSendReceive:
            if (place == 1 && (root || call.root == CollectiveSpec::kEveryRank))
                copies.push_back({peer, 0, 0, call.bytes});
            break;
        case CollectiveKind::kBroadcast:
            if (root)
                copies.push_back({peer, 0, 0, call.bytes});
            break;
        case CollectiveKind::kGather:
            if (peer == call.root)
                copies.push_back({peer, position * share, position * share, share});
            break;
        case CollectiveKind::kScatter:
            if (root)
                copies.push_back({peer, peer * share, peer * share, share});
            break;
        default:
            break;
        }
    }
    if (call.multicast && !copies.empty()) {
        copies.resize(1);
        copies.front().to = PlannedCopy::kToAll;
    }
    std::erase_if(copies, [](const PlannedCopy& copy) { return copy.bytes == 0; });
    return copies;
}

}  // namespace

std::vector<std::vector<PlannedCopy>> plan_copies(const CopyCall& call, std::uint32_t position) {
    std::vector<PlannedCopy> copies = copies_of(call, position);
    // All members have equally many rounds, even those without copies.
    if (call.ranks <= kManyCopies || call.multicast || call.bytes < kManyBytes)
        return {std::move(copies)};
    const bool whole =
        call.kind == CollectiveKind::kBroadcast || call.kind == CollectiveKind::kSendReceive;
    const std::uint64_t longest = whole ? call.bytes : call.bytes / call.ranks;
    std::vector<std::vector<PlannedCopy>> rounds((longest + kCopyPiece - 1) / kCopyPiece);
    for (const PlannedCopy& copy : copies)
        for (std::uint64_t done = 0; done < copy.bytes; done += kCopyPiece) {
            PlannedCopy part = copy;
            part.from += done;
            part.target += done;
            part.bytes = std::min(kCopyPiece, copy.bytes - done);
            rounds[done / kCopyPiece].push_back(part);
        }
    return rounds;
}

}  // namespace switchfold
