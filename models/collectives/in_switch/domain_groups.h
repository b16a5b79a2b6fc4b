// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/in_switch/nvls_chunks.h"

#include <cstdint>
#include <memory>
#include <string>

namespace switchfold {

/// The switches' group of a domain. `last`: of a folded domain (rank_fold.h) the group of the last
/// loop, if fewer heads than all have a piece in it.
struct DomainGroups {
    std::unique_ptr<ReductionGroup> all;
    std::unique_ptr<ReductionGroup> last;

    [[nodiscard]] const ReductionGroup& in_loop(std::uint64_t loop, std::uint64_t loops) const {
        return last && loop + 1 == loops ? *last : *all;
    }
    void remove(Fabric& fabric) const {
        for (const auto* group : {&all, &last})
            if (*group)
                fabric.remove_group(**group);
    }
};

/// Of a domain in which rank `first` stands for all heads of the pieces, which travel in packets of
/// `unit` bytes. Empty, with the reason in `refused`, if a switch has no room.
[[nodiscard]] DomainGroups create_folded_groups(
    Fabric& fabric, std::uint32_t first, const NvlsChunks& pieces, std::uint64_t unit,
    ElementType element, std::string& refused);

}  // namespace switchfold
