// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/packet.h"
#include "interconnect/reduction_unit.h"

#include <cstdint>
#include <memory>

namespace switchfold {

/// Whose partial sum leaves a reduction unit that has no room for one more line. Made for being
/// derived from outside: ReductionUnitParams::policy and Fabric::set_reduction_policy() take any.
///
/// A line that has been expelled is never complete in that unit: its later operands open a line
/// anew, and what is left of it leaves by ReductionUnitParams::timeout, which must not be 0.
class ReductionPolicy {
public:
    ReductionPolicy() = default;
    virtual ~ReductionPolicy() = default;
    ReductionPolicy(const ReductionPolicy&) = delete;
    ReductionPolicy& operator=(const ReductionPolicy&) = delete;
    ReductionPolicy(ReductionPolicy&&) = delete;
    ReductionPolicy& operator=(ReductionPolicy&&) = delete;

    /// `waiting` found no room among the lines of `role`, and none of them is leaving. \returns the
    /// index of a pushed line of that role, one of those from unit.oldest(role) by Line::newer; or
    /// ReductionUnit::kNone: `waiting` keeps its place in the input buffer.
    [[nodiscard]] virtual std::uint32_t
    victim(const ReductionUnit& unit, TreeRole role, const Packet& waiting) const = 0;
};

/// The parameters' own policy, else what `when_full` says.
[[nodiscard]] std::shared_ptr<const ReductionPolicy>
reduction_policy(const ReductionUnitParams& params);
/// What `when_full` says: evict takes the line that was touched longest ago, the others none.
[[nodiscard]] std::shared_ptr<const ReductionPolicy> reduction_policy(WhenFull when_full);

}  // namespace switchfold
