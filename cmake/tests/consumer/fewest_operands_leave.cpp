// SPDX-License-Identifier: Apache-2.0
#include "fewest_operands_leave.h"

namespace consumer {

using switchfold::ReductionUnit;

std::uint32_t FewestOperandsLeave::victim(
    const ReductionUnit& unit, switchfold::TreeRole role,
    const switchfold::Packet& /*waiting*/) const {
    std::uint32_t fewest = unit.oldest(role);
    for (std::uint32_t line = fewest; line != ReductionUnit::kNone; line = unit.line(line).newer)
        if (unit.line(line).count < unit.line(fewest).count)
            fewest = line;
    return fewest;
}

}  // namespace consumer
