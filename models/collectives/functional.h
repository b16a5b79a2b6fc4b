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

/// How far a quantised all-reduce is off the exact sums.
struct QuantisedError {
    double worst = 0;  ///< of a sum, in the largest magnitudes of its block, added over the members
    double bound = 0;  ///< most that this can be
    double squares = 0;        ///< of the errors
    double exact_squares = 0;  ///< of the exact sums
    /// Adds one collective's.
    void
    add(const CollectiveSpec& spec, const std::vector<std::vector<float>>& before,
        const std::vector<std::vector<float>>& after);
    /// In a sentence's words.
    [[nodiscard]] std::string words(const Quantisation& quantised) const;
};
/// Most that a sum of so many members, quantised as said, differs from the exact one, as a share of
/// the largest magnitudes in its block, added over the members (docs/in_switch.md).
[[nodiscard]] double
quantised_bound(const OperandFormat& format, Accumulation accumulation, std::size_t members);

/// Compares what members hold after a collective with the expected values, given the buffers before
/// it. Sums must be bitwise equal on all members and as close to the exact sum as the type's
/// rounding, and quantising, allow for any order. \returns a description of the error; empty if
/// there is none.
[[nodiscard]] std::string check_values(
    const CollectiveSpec& spec, const std::vector<std::vector<float>>& before,
    const std::vector<std::vector<float>>& after);

}  // namespace switchfold
