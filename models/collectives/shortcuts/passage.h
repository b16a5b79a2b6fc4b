// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "models/collectives/shortcuts/recorded_collective.h"

#include <cstddef>
#include <optional>

namespace switchfold {

/// How far a collective has come that passes as a recorded one did, at a pace of its own. From the
/// first member's end on, the others follow as far behind it as they did. Pure logic.
class Passage {
public:
    Passage(RecordedCollective run, double pace, Time now);

    [[nodiscard]] const RecordedCollective& run() const { return run_; }
    [[nodiscard]] Time joined() const { return joined_; }
    /// Work per picosecond from `now` on.
    void go_on(double pace, Time now);
    [[nodiscard]] double pace() const { return pace_; }
    /// Share of its data that is moved, before the first member is done.
    [[nodiscard]] double done(Time now) const;
    [[nodiscard]] bool over() const { return next_ == run_.told.size(); }
    /// What a member is told next, and when. \pre !over()
    [[nodiscard]] const RecordedCollective::Told& next() const { return run_.told[next_]; }
    [[nodiscard]] Time next_at() const;
    /// That is told now.
    void tell(Time now);
    /// Bytes per second that all members' memories move now.
    [[nodiscard]] double flow(Time now);
    /// When that changes; nothing: no more.
    [[nodiscard]] std::optional<Time> flow_changes() const;

private:
    [[nodiscard]] Time at(double work) const;
    RecordedCollective run_;
    Time joined_;
    double pace_;
    Time since_;       ///< of this pace
    double work_ = 0;  ///< done before
    std::size_t next_ = 0;
    std::size_t flow_ = 0;
    bool first_done_ = false;
    Time first_at_;  ///< end of the first member
};

}  // namespace switchfold
