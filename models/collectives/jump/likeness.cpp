// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/jump/likeness.h"

#include "models/collectives/running_collective.h"

namespace switchfold {

// Rings and trees follow from the ranks, and policies are those of the kind throughout a run.
Likeness likeness(const CollectiveSpec& spec) {
    const Choice& choice = spec.choice;
    Likeness like{
        kNobodyLate,
        static_cast<std::uint64_t>(spec.kind),
        spec.bytes.count(),
        static_cast<std::uint64_t>(spec.datatype),
        spec.element_bytes,
        spec.root,
        spec.stands_for,
        spec.blocks,
        static_cast<std::uint64_t>(spec.fallback),
        static_cast<std::uint64_t>(choice.algorithm),
        static_cast<std::uint64_t>(choice.protocol),
        static_cast<std::uint64_t>(choice.mode),
        static_cast<std::uint64_t>(choice.kernels),
        choice.channels,
        choice.registered ? 1U : 0U,
        choice.for_a_peer,
        choice.chunk,
        choice.peers_of_a_block,
        choice.threads};
    like.insert(like.end(), spec.ranks.begin(), spec.ranks.end());
    return like;
}

Likeness with_late(Likeness likeness, std::uint32_t position) {
    likeness.front() = position;
    return likeness;
}

}  // namespace switchfold
