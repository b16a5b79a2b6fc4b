// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Numbers of the element's type, the same for the same seed, one buffer a member.
[[nodiscard]] std::vector<std::vector<float>>
make_values(std::uint64_t seed, std::size_t members, std::size_t count, ElementType type);

/// Compares what members hold after a collective with what they should, from the buffers before it.
/// Sums must be equal bit by bit on all members and as near to the exact sum as the type's rounding
/// allows in any order. \returns what is wrong; empty if nothing is.
[[nodiscard]] std::string check_values(
    const CollectiveSpec& spec,
    const std::vector<std::vector<float>>& before,
    const std::vector<std::vector<float>>& after);

}  // namespace switchfold
