// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold::changes {

/// Where members lie, and in which rings their collectives run.
struct Placement {
    std::vector<std::uint32_t> machine_of;          ///< of each member, in their order
    std::vector<std::vector<std::uint32_t>> rings;  ///< orders of members
    std::uint32_t channels = 1;  ///< connections of a ring: channel c goes by ring c % rings

    [[nodiscard]] std::uint32_t members() const {
        return static_cast<std::uint32_t>(machine_of.size());
    }
    /// On which at least one member lies.
    [[nodiscard]] std::uint32_t machines() const;
    /// The most that members use of one machine.
    [[nodiscard]] std::uint32_t gpus_of_machine() const;
};

/// Members in even parts on machines, with rings that enter and leave a machine at another GPU
/// each: where nothing more is known.
[[nodiscard]] Placement
even_placement(std::uint32_t members, std::uint32_t machines, std::uint32_t channels);

}  // namespace switchfold::changes
