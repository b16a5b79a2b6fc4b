// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/jump/past_run.h"

#include <algorithm>
#include <cstdint>

namespace switchfold {

namespace {

// Differences in the members' joining of this share of its time may be ignored.
constexpr std::uint64_t kIgnored = 200;

}  // namespace

Time PastRun::first_done() const {
    const auto first =
        std::find_if(told.begin(), told.end(), [](const Told& t) { return t.left == 0; });
    return first == told.end() ? Time() : first->at;
}

bool PastRun::suits(const Joining& other) const {
    const Time least = std::min(joining.distance, other.distance);
    const Time most = std::max(joining.distance, other.distance);
    if (joining.late != other.late)
        return false;
    // Nobody can move more before the last has come than the whole.
    return joining.late ? least >= told.back().at : most - least <= first_done() / kIgnored;
}

}  // namespace switchfold
