// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/jump/past_runs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace switchfold {

namespace {

// After this share of a collective's time an early member has prepared all that it can.
constexpr std::uint64_t kPrepared = 20;
// Differences in the members' joining of this share of its time may be ignored.
constexpr std::uint64_t kIgnored = 200;
constexpr std::size_t kMostOfALikeness = 8;

}  // namespace

Time PastRun::first_done() const {
    const auto first =
        std::find_if(told.begin(), told.end(), [](const Told& t) { return t.left == 0; });
    return first == told.end() ? Time() : first->at;
}

bool PastRun::suits(Time other) const {
    const Time done = first_done();
    const Time prepared(done.count() / kPrepared);
    const Time mine = std::min(spread, prepared);
    const Time its = std::min(other, prepared);
    return std::max(mine, its) - std::min(mine, its) <= Time(done.count() / kIgnored);
}

const PastRun* PastRuns::find(const Likeness& likeness, Time spread) const {
    const auto found = runs_.find(likeness);
    if (found == runs_.end())
        return nullptr;
    for (const PastRun& run : found->second)
        if (run.suits(spread))
            return &run;
    return nullptr;
}

void PastRuns::keep(const Likeness& likeness, PastRun run) {
    std::vector<PastRun>& runs = runs_[likeness];
    if (runs.size() < kMostOfALikeness)
        runs.push_back(std::move(run));
}

}  // namespace switchfold
