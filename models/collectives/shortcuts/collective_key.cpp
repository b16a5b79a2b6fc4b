// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_key.h"

#include "models/collectives/library.h"
#include "models/collectives/running_collective.h"

namespace switchfold {

namespace {

/// All of the key but the ranks.
CollectiveKey shape_of(const CollectiveSpec& spec) {
    const CollectiveConfig& choice = spec.choice;
    CollectiveKey like{
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
        choice.own.index(),
        choice.channels,
        choice.threads};
    library_of(choice).distinguish(choice, like);
    return like;
}

}  // namespace

// Rings and trees follow from the ranks, and policies are those of the kind throughout a run.
CollectiveKey key_of(const CollectiveSpec& spec) {
    CollectiveKey like = shape_of(spec);
    like.insert(like.end(), spec.ranks.begin(), spec.ranks.end());
    return like;
}

bool alike(const CollectiveSpec& a, const CollectiveSpec& b) {
    return &a == &b || (a.ranks.size() == b.ranks.size() && shape_of(a) == shape_of(b));
}

CollectiveKey with_late(CollectiveKey key, std::uint32_t position) {
    key.front() = position;
    return key;
}

}  // namespace switchfold
