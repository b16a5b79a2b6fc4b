// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Values of the element type, determined by the seed, one buffer per member.
[[nodiscard]] std::vector<std::vector<float>>
make_values(std::uint64_t seed, std::size_t members, std::size_t count, ElementType type);

/// Compares what members hold after a collective with the expected values, given the buffers before
/// it. Sums must be bitwise equal on all members and as close to the exact sum as the type's
/// rounding allows for any order. \returns a description of the error; empty if there is none.
[[nodiscard]] std::string check_values(
    const CollectiveSpec& spec, const std::vector<std::vector<float>>& before,
    const std::vector<std::vector<float>>& after);

}  // namespace switchfold
