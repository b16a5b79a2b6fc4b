// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/reduction_parameters.h"

#include <array>
#include <cstdint>
#include <string>

namespace switchfold {

/// What published numbers leave open. They come from other circuits and, scaled, from other
/// processes, so nothing is ever said with one number.
struct CostRange {
    double low = 0;
    double high = 0;
    CostRange& operator+=(const CostRange& other) {
        low += other.low;
        high += other.high;
        return *this;
    }
    [[nodiscard]] CostRange times(double factor) const { return {low * factor, high * factor}; }
};

/// Processes, in nm, for which an area and an energy of everything in a unit are published.
inline constexpr std::array<std::uint32_t, 4> kCostNodes{16, 14, 10, 7};

/// What a unit is built into.
struct UnitPlace {
    std::uint32_t lanes = 1;   ///< of the port: a unit each
    std::uint32_t tables = 1;  ///< two where it may also stand below another unit (TreeRole)
    std::uint32_t node = 7;    ///< one of kCostNodes
    bool quantises = false;    ///< makes 8-bit numbers of its sums
};

/// Area of reduction units and energy of what they add: an estimate from published numbers, whose
/// sources docs/in_switch.md#area-and-energy gives. It counts adders, quantisers, sums and tables;
/// not wires, control, multicast, crossbar or leakage.
struct UnitCost {
    CostRange adders_mm2;
    CostRange quantisers_mm2;
    CostRange sums_mm2;     ///< the buffer
    CostRange entries_mm2;  ///< who has come, and what the line is
    /// Of a byte of operands, by element type: adding it, and reading and writing the sum so far.
    std::array<CostRange, EnumNames<ElementType>::kNames.size()> pj_per_byte;
    [[nodiscard]] CostRange mm2() const;
};

/// Bits that an entry keeps beside its sum.
[[nodiscard]] std::uint32_t entry_bits(const ReductionUnitParams& unit);

/// Throws ConfigError for a node that is none of kCostNodes, and says which ones are.
[[nodiscard]] UnitCost unit_cost(const ReductionUnitParams& unit, const UnitPlace& place);

}  // namespace switchfold
