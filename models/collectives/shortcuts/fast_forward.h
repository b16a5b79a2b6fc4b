// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/units.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/period_detector.h"
#include "models/collectives/shortcuts/traffic_counts.h"
#include "models/probe.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace switchfold {

class Repeating;
class RunningCollective;

/// Skips the repetitions of a long collective, or of some beside each other. At the end of each
/// window of the first one's turns, if all repeat themselves and nothing else moves data, the
/// world's time advances by whole periods and the remaining work of each decreases by the
/// corresponding turns; data in flight are unaffected. A jump ends before the next fault and the
/// last turns of any, and when another collective arrives, a kernel starts to draw from a member's
/// memory, or a host copy starts to move over links. Nothing is skipped beside kernels that draw,
/// nor after the first such copy.
class FastForward final : public Probe, private EventHandler, private WindowListener {
public:
    /// Other activity, reported by the machine.
    struct Beside {
        /// The only collectives under way are those that are watched, with all their members.
        std::function<bool()> undisturbed;
        std::function<std::uint64_t()> copied_bytes;  ///< bytes of host copies over links so far
    };
    /// `loosely`: any motion is taken as Motion::kLoose.
    FastForward(Scheduler& scheduler, TrafficCounts& counts, bool loosely, Beside beside) :
        scheduler_(scheduler), counts_(counts), loosely_(loosely), beside_(std::move(beside)) {}

    /// Watches collectives that are alike, whose members have these ports, for such a motion, in
    /// place of those watched so far; no effect if one does not repeat itself.
    void watch(
        const std::vector<RunningCollective*>& collectives, std::vector<const RankPort*> ports,
        Motion motion);
    /// Watches nothing any more, if it is watched.
    void forget(const RunningCollective& collective);
    void on_collective_end(const CollectiveSeen& collective, Time /*now*/) override {
        forget(*collective.running);
    }
    /// Number of collectives watched.
    [[nodiscard]] std::size_t watching() const { return watched_.size(); }
    /// Total simulated time skipped.
    [[nodiscard]] Time jumped() const { return jumped_; }
    /// Of it, the part of motions that wander.
    [[nodiscard]] Time at_mean_pace() const { return at_mean_pace_; }

private:
    /// Watches nothing any more.
    void stop();
    void on_window() override;
    void on_event(std::uint64_t tag) override;
    struct Watched {
        explicit Watched(Repeating& which);
        [[nodiscard]] PeriodDetector& turns() const;
        /// Turns to skip in a lane with `turns` per period, rounded to whole cycles.
        [[nodiscard]] double whole_turns(std::uint32_t lane, double turns, double periods) const;
        /// `most`, or fewer periods, with which enough of its turns remain.
        [[nodiscard]] std::uint64_t
        skippable(const std::vector<double>& turns, std::uint64_t most) const;
        /// Of a lane: simulated, left out and still to come.
        [[nodiscard]] double all_turns() const;
        /// Share of all turns by which whole cycles are more or less than so many periods.
        [[nodiscard]] double rounded(const std::vector<double>& turns, double periods) const;
        void skip(const std::vector<double>& turns, double periods);

        Repeating* collective;
        std::vector<double> owed;  ///< by lane: fractions of turns that jumps skipped too few
        double left_out = 0;       ///< turns of the first lane
    };
    /// Ends a window of all. \returns their motion, by collective, if each repeats itself since the
    /// same time; else nothing.
    std::vector<Repetition> close_windows(bool disturbed);
    /// `all`: with the first one's period and turns.
    void skip(const std::vector<Repetition>& all);
    /// Whether kernels have drawn from the members' memories since the last call.
    bool kernels_drew();
    /// Whether host copies have moved since the last call.
    bool copies_moved();
    [[nodiscard]] bool kernels_draw() const;

    Scheduler& scheduler_;
    std::vector<Watched> watched_;
    TrafficCounts& counts_;
    bool loosely_;
    Beside beside_;
    std::uint64_t copied_ = 0;  ///< bytes of host copies, up to the last window
    std::vector<const RankPort*> ports_;
    std::vector<double> drawn_;  ///< by port: bytes, up to the last window
    Time jumped_;
    Time at_mean_pace_;
};

}  // namespace switchfold
