// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/passage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace switchfold {

Passage::Passage(RecordedCollective run, double pace, Time now) :
    run_(std::move(run)), joined_(now), pace_(pace), since_(now) {}

void Passage::go_on(double pace, Time now) {
    work_ += pace_ * static_cast<double>((now - since_).count());
    since_ = now;
    pace_ = pace;
}

double Passage::done(Time now) const {
    const double work = work_ + pace_ * static_cast<double>((now - since_).count());
    const double moved = work - run_.before_work;
    return std::clamp(moved / (run_.first_work() - run_.before_work), 0.0, 1.0);
}

Time Passage::next_at() const {
    const RecordedCollective::Told& next = run_.told[next_];
    if (first_done_)
        return first_at_ + (next.at - run_.first_done());
    return at(next.work);
}

Time Passage::at(double work) const {
    const double left = std::max(0.0, work - work_) / pace_;
    return since_ + Time(static_cast<std::uint64_t>(std::ceil(left)));
}

double Passage::flow(Time now) {
    const auto& flows = run_.flows;
    while (flow_ + 1 < flows.size() && at(flows[flow_ + 1].work) <= now)
        ++flow_;
    return flows.empty() ? 0 : flows[flow_].each * pace_ * 1e12;
}

std::optional<Time> Passage::flow_changes() const {
    return flow_ + 1 < run_.flows.size() ? std::optional(at(run_.flows[flow_ + 1].work))
                                         : std::nullopt;
}

void Passage::tell(Time now) {
    if (!first_done_ && run_.told[next_].left == 0) {
        first_done_ = true;
        first_at_ = now;
    }
    ++next_;
}

}  // namespace switchfold
