// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/packet.h"
#include "interconnect/reduction_unit.h"

#include <cstdint>
#include <memory>

namespace switchfold {

/// What a reduction unit does for one more line when it has no room for it. Made for being derived
/// from outside: ReductionUnitParams::policy and Fabric::set_reduction_policy() take any. Its
/// contract:
///
/// 1. It is asked only when a packet found no room, and again whenever room has become free.
/// 2. It may look at the unit and its lines, at what waits, and at its own numbers; it changes
/// none.
/// 3. victim() names an open pushed line of that role, or kNone: what waits keeps its place.
/// 4. A line that has been expelled is never complete in that unit: its later operands open a line
///    anew, and what is left of it leaves by ReductionUnitParams::timeout, which must not be 0.
/// 5. precedence() orders what waits at a port: higher first, equal ones as they came. It says the
///    same of a packet for as long as that waits. Operands of open lines never wait for it.
/// 6. Who waits for a quota does not hold up those who do not share it, whatever the order.
/// 7. Any answer that keeps to this gives right sums; a bad one costs time, or, where nothing can
///    ever leave, ends the run with exit code 3.
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

    /// Which of the packets that wait for entries is served first. 0 for all: as they came.
    [[nodiscard]] virtual std::uint32_t
    precedence(const ReductionUnit& /*unit*/, const Packet& /*waiting*/) const {
        return 0;
    }
    /// Whether precedence() may differ between packets: only then are queues searched.
    [[nodiscard]] virtual bool orders() const { return false; }
};

/// The parameters' own policy, else what `when_full` says.
[[nodiscard]] std::shared_ptr<const ReductionPolicy>
reduction_policy(const ReductionUnitParams& params);
/// By tenants' quotas and priorities, and what `when_full` says.
[[nodiscard]] std::shared_ptr<const ReductionPolicy>
tenants_policy(const ReductionUnitParams& params);
/// What `when_full` says: evict takes the line that was touched longest ago, the others none.
[[nodiscard]] std::shared_ptr<const ReductionPolicy> reduction_policy(WhenFull when_full);

}  // namespace switchfold
