// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/reduction_policy.h"

#include <cstdint>

namespace consumer {

/// When the table is full, evicts the line with the fewest operands: lines that are nearly complete
/// stay.
class FewestOperandsLeave final : public switchfold::ReductionPolicy {
public:
    [[nodiscard]] std::uint32_t victim(
        const switchfold::ReductionUnit& unit, switchfold::TreeRole role,
        const switchfold::Packet& waiting) const override;
};

}  // namespace consumer
