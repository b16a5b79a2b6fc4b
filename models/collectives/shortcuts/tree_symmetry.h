// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/group_layout.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Trees over machines of equally many members, of which the first few of each machine stand for
/// all: member i resembles member i mod `kept`. Trees whose chains visit such members in the same
/// order do the same, so one of them is simulated. All its blocks then stand on kept members, as
/// many on each as a member holds of all trees together.
struct FoldedTrees {
    std::vector<std::uint32_t> member_of;  ///< by position: index among all kept members
    std::vector<std::uint32_t> image;      ///< by tree: the simulated one that does the same
    /// By tree and position: the position in `image` with the same place in its machine's chain.
    std::vector<std::vector<std::uint32_t>> place;
};
/// `trees`: parents by position (group_layout.h), with one chain in each machine.
/// \pre The layout is even, and `kept` divides its members.
[[nodiscard]] FoldedTrees fold_members(
    const GroupLayout& layout, const std::vector<std::vector<std::uint32_t>>& trees,
    std::uint32_t kept);

}  // namespace switchfold
