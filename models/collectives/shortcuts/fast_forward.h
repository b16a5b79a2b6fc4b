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

/// Skips the repetitions of a long collective. At the end of each window of its turns, if it
/// repeats itself and nothing else moves data, the world's time advances by whole periods and the
/// collective's remaining work decreases by the corresponding turns; data in flight are unaffected.
/// A jump ends before the next fault and the collective's last turns, and when another collective
/// arrives, a kernel starts to draw from a member's memory, or a host copy starts to move over
/// links. Nothing is skipped beside kernels that draw, nor after a collective's first such copy.
class FastForward final : public Probe, private EventHandler, private WindowListener {
public:
    /// Other activity, reported by the machine.
    struct Beside {
        std::function<bool()> undisturbed;            ///< the collective is alone now
        std::function<std::uint64_t()> copied_bytes;  ///< bytes of host copies over links so far
    };
    /// `loosely`: any motion is taken as Motion::kLoose.
    FastForward(Scheduler& scheduler, TrafficCounts& counts, bool loosely, Beside beside) :
        scheduler_(scheduler), counts_(counts), loosely_(loosely), beside_(std::move(beside)) {}

    /// Watches a single collective, whose members have these ports, for such a motion; no effect if
    /// it does not repeat itself.
    void watch(RunningCollective& collective, std::vector<const RankPort*> ports, Motion motion);
    void forget(const RunningCollective& collective);
    void on_collective_end(const CollectiveSeen& collective, Time /*now*/) override {
        forget(*collective.running);
    }
    [[nodiscard]] bool watching() const { return collective_ != nullptr; }
    /// Total simulated time skipped.
    [[nodiscard]] Time jumped() const { return jumped_; }
    /// Of it, the part of motions that wander.
    [[nodiscard]] Time at_mean_pace() const { return at_mean_pace_; }

private:
    /// Watches nothing any more.
    void stop();
    void on_window() override;
    void on_event(std::uint64_t tag) override;
    void skip(const Repetition& repetition);
    /// Turns to skip in a lane with `turns` per period, rounded to whole cycles.
    [[nodiscard]] double whole_turns(std::uint32_t lane, double turns, double periods) const;
    /// Whether kernels have drawn from the members' memories since the last call.
    bool kernels_drew();
    /// Whether host copies have moved since the last call.
    bool copies_moved();
    [[nodiscard]] bool kernels_draw() const;

    Scheduler& scheduler_;
    Repeating* collective_ = nullptr;
    TrafficCounts& counts_;
    bool loosely_;
    Beside beside_;
    std::uint64_t copied_ = 0;  ///< bytes of host copies, up to the last window
    std::vector<double> owed_;  ///< by lane: fractions of turns that earlier jumps skipped too few
    std::vector<const RankPort*> ports_;
    std::vector<double> drawn_;  ///< by port: bytes, up to the last window
    double left_out_turns_ = 0;  ///< for the first lane
    Time jumped_;
    Time at_mean_pace_;
};

}  // namespace switchfold
