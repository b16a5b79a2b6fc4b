// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/link_statistics.h"
#include "interconnect/reduction_unit.h"
#include "interconnect/switch.h"
#include "models/collectives/shortcuts/traffic_counts.h"
#include "models/memory/memory_system.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

class Machine;

/// Counters of the components that data pass through.
struct TrafficStatistics {
    std::vector<LinkStatistics> links;
    std::vector<SwitchStatistics> switches;
    std::vector<ReductionUnitStatistics> units;  ///< of the switches, port by port
    std::vector<MemoryStatistics> memory;        ///< by rank
};

/// The counters of all components, one after the other: sums, without peaks.
class MachineCounts final : public TrafficCounts {
public:
    explicit MachineCounts(Machine& machine);
    [[nodiscard]] std::vector<std::uint64_t> simulated() const override;
    [[nodiscard]] std::vector<Count>
    simulated_on(const std::vector<std::uint32_t>& links) const override;
    [[nodiscard]] TrafficPart part_of(const std::vector<std::uint32_t>& links) const override;
    [[nodiscard]] std::vector<std::uint64_t> simulated_in(const TrafficPart& part) const override;
    /// All counters of the machine, including what was not simulated.
    [[nodiscard]] TrafficStatistics counted() const;
    /// What was not simulated, of each link and of a rank's memory. \pre left_out() is not empty.
    [[nodiscard]] std::span<const double> wire_bytes_left_out() const;
    [[nodiscard]] double memory_bytes_left_out(std::uint32_t rank) const;

private:
    /// Index of the first count of such components: links come first, then switches, units and
    /// memories.
    [[nodiscard]] std::size_t first_of_switches() const;
    [[nodiscard]] std::size_t first_of_units() const;
    [[nodiscard]] std::size_t first_of_memory() const;
    /// Calls visit(index, value) for each count of the part, in the order of its places.
    template <class Visit>
    void for_each_count(const TrafficPart& part, const Visit& visit) const;

    Machine& machine_;
    struct Unit {
        std::uint32_t link;  ///< into its port
        const ReductionUnit* unit;
    };
    std::vector<Unit> units_;
};

}  // namespace switchfold
