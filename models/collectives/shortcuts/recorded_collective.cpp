// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/recorded_collective.h"

#include <algorithm>
#include <cstdint>

namespace switchfold {

namespace {

// Share of its time.
constexpr std::uint64_t kIgnored = 200;

}  // namespace

Time RecordedCollective::first_done() const {
    const auto first =
        std::find_if(told.begin(), told.end(), [](const Told& t) { return t.left == 0; });
    return first == told.end() ? Time() : first->at;
}

Time RecordedCollective::ignored() const {
    return first_done() / kIgnored;
}

bool RecordedCollective::suits(const Joining& other) const {
    if (joining.late != other.late)
        return false;
    const Time shorter = std::min(joining.spread, other.spread);
    const Time longer = std::max(joining.spread, other.spread);
    // Nobody can move more before the last has come than the whole.
    return joining.late ? std::min(joining.alone, other.alone) >= told.back().at
                        : longer - shorter <= ignored();
}

}  // namespace switchfold
