// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_example.h"

#include <algorithm>
#include <utility>

namespace switchfold {

bool CollectiveExample::knows(double left, const RecordedCollective& run) const {
    return pace_.nothing() ? left >= 1 : pace_.at(left, run.demand).has_value();
}

double CollectiveExample::pace_at(double left, const RecordedCollective& run) const {
    if (pace_.nothing())
        return 1;
    return pace_.at(left, run.demand).value_or(pace_.guess(left, run.demand));
}

bool CollectiveExample::carries(const RecordedCollective& run) const {
    return run.beside_kernels() && offsets_.carried();
}

const RecordedCollective*
CollectiveExample::suiting(const RecordedCollective::Joining& joining, double left) const {
    if (asks_)
        return nullptr;
    const RecordedCollective* nearest = nullptr;
    for (const RecordedCollective& run : runs_)
        if ((run.suits(joining) || (!joining.late && carries(run) &&
                                    joining.spread <= CarriedOffsets::most_apart(run))) &&
            (nearest == nullptr || run.differs(joining) < nearest->differs(joining)))
            nearest = &run;
    if (nearest == nullptr || (left < 1 && !knows(left, *nearest)))
        return nullptr;
    if (nearest->joined_like(joining))
        return nearest;
    // Beside kernels the others may not have moved all that they can before a late one comes.
    const bool may = joining.late ? left >= 1 : carries(*nearest) || runs_.size() == most_runs_;
    return may ? nearest : nullptr;
}

Time CollectiveExample::patience() const {
    if (runs_.empty())
        return {};
    const RecordedCollective& run = runs_.front();
    return carries(run) ? CarriedOffsets::most_apart(run) : run.ignored();
}

RecordedCollective CollectiveExample::as_joined(
    const RecordedCollective& run, const RecordedCollective::Joining& joining) const {
    if (joining.late || !carries(run))
        return run;
    RecordedCollective moved = offsets_.moved(run, joining.lags);
    count_work(moved);
    return moved;
}

void CollectiveExample::learn(RecordedCollective run, const PaceBesideKernels& its_pace) {
    pace_.add(its_pace);
    asks_ = false;
    if (!run.joining.late)
        offsets_.add(run);
    const auto like =
        std::find_if(runs_.begin(), runs_.end(), [&](const RecordedCollective& other) {
            return run.joining.late ? other.suits(run.joining) : other.joined_like(run.joining);
        });
    if (like == runs_.end() && runs_.size() < most_runs_ && run.suits(run.joining))
        runs_.push_back(std::move(run));
    else if (like != runs_.end() && like->beside_kernels() && !run.beside_kernels())
        *like = std::move(run);
    for (RecordedCollective& one : runs_)
        count_work(one);
}

void CollectiveExample::count_work(RecordedCollective& run) const {
    run.count_work([&](double left) { return pace_at(left, run); });
}

}  // namespace switchfold
