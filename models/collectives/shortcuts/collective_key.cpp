// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_key.h"

#include "models/collectives/library.h"
#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cstddef>

namespace switchfold {

// Rings and trees follow from the ranks, and policies are those of the kind throughout a run.
CollectiveKey key_of(const CollectiveSpec& spec) {
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
    like.insert(like.end(), spec.ranks.begin(), spec.ranks.end());
    return like;
}

bool alike(const CollectiveSpec& a, const CollectiveSpec& b) {
    if (&a == &b)
        return true;
    if (a.ranks.size() != b.ranks.size())
        return false;
    const CollectiveKey of_a = key_of(a);
    const CollectiveKey of_b = key_of(b);
    const auto shape = static_cast<std::ptrdiff_t>(a.ranks.size());
    return std::equal(of_a.begin(), of_a.end() - shape, of_b.begin(), of_b.end() - shape);
}

CollectiveKey with_late(CollectiveKey key, std::uint32_t position) {
    key.front() = position;
    return key;
}

}  // namespace switchfold
