// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold::elastic {

/// Location of the members, and the rings of their collectives.
struct Placement {
    std::vector<std::uint32_t> machine_of;          ///< for each member, in order
    std::vector<std::vector<std::uint32_t>> rings;  ///< permutations of the members
    std::uint32_t channels = 1;  ///< connections per ring edge: channel c uses ring c % rings

    [[nodiscard]] std::uint32_t members() const {
        return static_cast<std::uint32_t>(machine_of.size());
    }
    /// Machines with at least one member.
    [[nodiscard]] std::uint32_t machines() const;
    /// The most GPUs that members use on one machine.
    [[nodiscard]] std::uint32_t gpus_of_machine() const;
};

/// A default placement: members in equal parts on machines, with rings that enter and leave a
/// machine at a different GPU each.
[[nodiscard]] Placement
even_placement(std::uint32_t members, std::uint32_t machines, std::uint32_t channels);

}  // namespace switchfold::elastic
