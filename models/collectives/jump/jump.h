// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/jump/turn_log.h"
#include "models/collectives/rank_port.h"
#include "sim/core/units.h"
#include "sim/kernel/scheduler.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace switchfold {

class RunningCollective;

/// What counts bytes and packets, and is to count also what was left out.
class TrafficCounts {
public:
    virtual ~TrafficCounts() = default;
    TrafficCounts() = default;
    TrafficCounts(const TrafficCounts&) = delete;
    TrafficCounts& operator=(const TrafficCounts&) = delete;
    TrafficCounts(TrafficCounts&&) = delete;
    TrafficCounts& operator=(TrafficCounts&&) = delete;
    /// A motion that may repeat itself begins now.
    virtual void mark() = 0;
    /// What was counted since the last mark happened so many times more.
    virtual void repeat(double times) = 0;
};

/// Leaves out what a long collective does over and over: at the end of each window of its turns,
/// if it repeats itself and nothing else moves data, the world's time goes on by whole periods and
/// the collective's work is less by as many turns. What is under way stays as it is. A jump ends
/// before the next fault and the collective's last turns, and when another collective comes, a
/// kernel begins to draw from a member's memory, or a host copy begins to move over links. Beside
/// kernels that draw nothing is left out, nor from a collective's first such copy on.
class Jump final : private EventHandler, private TurnListener {
public:
    /// What else goes on, as the machine tells.
    struct Beside {
        std::function<bool()> undisturbed;            ///< the collective has all to itself now
        std::function<std::uint64_t()> copied_bytes;  ///< of host copies over links up to now
    };
    Jump(Scheduler& scheduler, TrafficCounts& counts, Beside beside) :
        scheduler_(scheduler), counts_(counts), beside_(std::move(beside)) {}

    /// One at a time, whose members have these ports; one that counts no turns is nothing to watch.
    void watch(RunningCollective& collective, std::vector<const RankPort*> ports);
    void forget(const RunningCollective& collective);
    [[nodiscard]] bool watching() const { return collective_ != nullptr; }
    /// Simulated time that was left out.
    [[nodiscard]] Time jumped() const { return jumped_; }

private:
    void on_window() override;
    void on_event(std::uint64_t tag) override;
    void skip(const Repetition& repetition);
    /// What a lane of so many turns a period leaves out, in whole cycles.
    [[nodiscard]] double whole_turns(std::uint32_t lane, double turns, double periods) const;
    /// Whether kernels have drawn from the members' memories since this was asked last.
    bool kernels_drew();
    /// Whether host copies have moved since this was asked last.
    bool copies_moved();
    [[nodiscard]] bool kernels_draw() const;

    Scheduler& scheduler_;
    RunningCollective* collective_ = nullptr;
    TrafficCounts& counts_;
    Beside beside_;
    std::uint64_t copied_ = 0;  ///< bytes of host copies, up to the last window
    std::vector<double> owed_;  ///< by lane: parts of a turn that earlier jumps left out too few
    std::vector<const RankPort*> ports_;
    std::vector<double> drawn_;  ///< by port: bytes, up to the last window
    double left_out_turns_ = 0;  ///< of the first lane
    Time jumped_;
};

}  // namespace switchfold
