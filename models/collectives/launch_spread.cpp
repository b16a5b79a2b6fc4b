// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/launch_spread.h"

namespace switchfold {

std::uint32_t awaited_at_once(const CollectiveSpec& spec) {
    // A ring or tree awaits few neighbours, and what a late one adds is hidden by the hops that
    // others' data take meanwhile: around a ring the delays average.
    const bool all =
        spec.kind == CollectiveKind::kAllToAll && channels_for_a_peer(spec.choice) != 0;
    return all ? spec.size() - 1 : 1;
}

Time latest_of(Time spread, std::uint32_t peers) {
    // The mean of the largest of n is the n-th harmonic number times the mean of one.
    std::uint64_t late = 0;
    for (std::uint32_t peer = 2; peer <= peers; ++peer)
        late += spread.count() / peer;
    return Time(late);
}

}  // namespace switchfold
