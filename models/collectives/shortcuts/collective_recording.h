// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/units.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/collective_key.h"
#include "models/collectives/shortcuts/pace_beside_kernels.h"
#include "models/collectives/shortcuts/part_counts.h"
#include "models/collectives/shortcuts/recorded_collective.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

using Ports = std::vector<RankPort*>;

/// Least share of the memory's bandwidth that kernels leave to packets on any of these GPUs.
[[nodiscard]] double least_left(const Ports& ports);

/// A collective that may become an example, from the time at which all members have joined.
class CollectiveRecording {
public:
    /// `begins`: to move data. `counts` are those that its data add to, `prelude` what they were
    /// when the first member joined; empty if something else was under way.
    CollectiveRecording(
        CollectiveKey key, RecordedCollective::Joining joining, Time begins, const Ports& ports,
        const Scheduler& scheduler, const PartCounts& counts, std::vector<double> prelude);

    /// What the memories have moved is looked at.
    void sample(const Ports& ports);
    /// Kernels leave another share of the memory from now on.
    void change_left(const Ports& ports);
    /// A member has `left` of `all` rounds to go, or is done (0) at `end`.
    void told(std::uint32_t position, std::uint32_t left, std::uint32_t all, Time end);
    /// The first member is done.
    void first_done(const Ports& ports);
    /// It has ended. Members that came apart without a difference count as together.
    void end();

    [[nodiscard]] const CollectiveKey& key() const { return key_; }
    [[nodiscard]] RecordedCollective& run() { return run_; }
    /// The same with its traffic since its first member joined; nothing if all joined together, or
    /// were held, or anything else was under way then.
    [[nodiscard]] std::optional<RecordedCollective> joined_apart() const;
    /// What it says of the pace beside kernels.
    [[nodiscard]] PaceBesideKernels pace() const;

private:
    /// What members' memories had moved at a time, and what kernels left from then on.
    struct Sample {
        Time at;     ///< by the scheduler
        Time world;  ///< what is jumped over included
        double bytes = 0;
        double left = 1;
    };
    /// What is jumped over is part of it.
    [[nodiscard]] Time world(Time time) const { return time + scheduler_->skipped(); }
    [[nodiscard]] std::vector<RecordedCollective::Flow> flows() const;

    CollectiveKey key_;
    const Scheduler* scheduler_;
    const PartCounts* counts_;
    Time joined_;  ///< its last member
    std::vector<double> begun_;
    std::vector<double> prelude_;
    std::vector<double> accessed_;  ///< bytes that each member's memory had moved then
    std::vector<Sample> samples_;
    RecordedCollective run_;
    std::optional<std::vector<double>> whole_traffic_;  ///< of joined_apart()
};

}  // namespace switchfold
