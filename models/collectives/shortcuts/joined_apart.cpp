// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/joined_apart.h"

#include "models/collectives/shortcuts/carried_offsets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

constexpr std::size_t kMostSeen = 16;
// Share of a collective's time: what it is off by is less.
constexpr std::uint64_t kAsNear = 400;

/// By how much the member that differs most comes earlier or later.
Time distance(const std::vector<Time>& a, const std::vector<Time>& b) {
    Time most;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::max(a[i], b[i]) - std::min(a[i], b[i]));
    return most;
}

}  // namespace

void JoinedApart::learn(RecordedCollective run) {
    if (seen_.size() == kMostSeen)
        seen_.pop_front();
    seen_.push_back(std::move(run));
}

std::optional<RecordedCollective>
JoinedApart::suiting(const RecordedCollective::Joining& joining) const {
    const RecordedCollective* nearest = nullptr;
    Time least;
    for (const RecordedCollective& run : seen_) {
        const Time apart = distance(run.joining.lags, joining.lags);
        if (apart <= run.first_done() / kAsNear && (nearest == nullptr || apart < least)) {
            nearest = &run;
            least = apart;
        }
    }
    if (nearest == nullptr)
        return std::nullopt;
    CarriedOffsets offsets;
    offsets.add(*nearest);
    return offsets.shifted(*nearest, joining.lags);
}

}  // namespace switchfold
