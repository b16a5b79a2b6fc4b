// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/link_statistics.h"
#include "interconnect/reduction_unit.h"
#include "interconnect/switch.h"
#include "models/collectives/jump/jump.h"
#include "models/memory/memory_system.h"
#include "sim/core/statistics.h"
#include "sim/core/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

class Machine;

/// What the components that data pass have counted.
struct TrafficStatistics {
    std::vector<LinkStatistics> links;
    std::vector<SwitchStatistics> switches;
    std::vector<ReductionUnitStatistics> units;  ///< of the switches, port by port
    std::vector<MemoryStatistics> memory;        ///< by rank
};

/// Counts what the components cannot: what collectives have left out.
class MachineCounts final : public TrafficCounts {
public:
    explicit MachineCounts(Machine& machine) : machine_(machine) {}
    void mark() override;
    void repeat(double times) override;
    /// All counts of the machine, with those.
    [[nodiscard]] TrafficStatistics counted() const;

private:
    Machine& machine_;
    TrafficStatistics marked_;
    TrafficStatistics left_out_;
};

/// What every link, switch, reduction unit, GPU and memory counted. `end`: of the run.
[[nodiscard]] std::vector<StatisticTable>
collect_statistics(Machine& machine, const MachineCounts& counts, Time end);

}  // namespace switchfold
