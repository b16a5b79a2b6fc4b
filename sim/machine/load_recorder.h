// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "models/probe.h"
#include "sim/machine/binned_sums.h"
#include "sim/machine/machine_counts.h"
#include "sim/machine/outcome.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

class Machine;
class ReductionUnit;

/// Records how busy links are over time, and what the timeline's counters say of the first rank.
/// Changes nothing: unlike those counters it lets collectives pass as earlier ones did, and spreads
/// their bytes over the time that they took.
class LoadRecorder final : public Probe {
public:
    /// `copies`: ranks that a simulated one stands for. With a fold, links that it leaves out carry
    /// nothing.
    LoadRecorder(
        Machine& machine, const MachineCounts& counts, const Scheduler& scheduler,
        std::size_t copies, const std::optional<RankSymmetry>& fold);
    void on_collective_begin(const CollectiveSeen& collective, Time now) override;
    void on_collective_end(const CollectiveSeen& collective, Time now) override;
    void on_slice(Time now) override;

    /// What was recorded up to the end of the run; with a fold, links that were not simulated have
    /// the loads of those that they resemble.
    [[nodiscard]] LinkLoads loads(Time end, const std::optional<RankSymmetry>& fold);
    /// The counters, track by track.
    [[nodiscard]] std::vector<CounterSample> counters(Time end) const;

private:
    void sample(Time now);
    void watch(Time now);
    void put(const char* track, Time now, double value);
    [[nodiscard]] std::size_t bins_until(Time end) const;
    /// Where bytes that were left out since the last sample passed.
    [[nodiscard]] Time begin_of_left_out(Time skipped) const;

    Machine& machine_;
    const MachineCounts& counts_;
    const Scheduler& scheduler_;
    std::size_t copies_;
    std::size_t links_;
    std::vector<std::size_t> simulated_;       ///< hops
    std::vector<const ReductionUnit*> units_;  ///< of all switches
    BinnedSums bytes_;                         ///< by hop, then of the first rank's memory
    std::vector<std::uint64_t> seen_;          ///< of each row, simulated, at the last sample
    std::vector<double> left_out_;             ///< of each row, not simulated, likewise
    Time last_;
    Time skipped_;
    Time ready_;  ///< of the last collective that all ranks have joined, or that began
    std::optional<Time> ended_since_;  ///< earliest such time of those that ended since then
    std::map<std::string, double> values_;
    std::map<std::string, std::vector<CounterSample>> samples_;
};

}  // namespace switchfold
