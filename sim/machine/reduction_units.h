// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"

#include <cstddef>

namespace switchfold {

/// Visits every reduction unit of the switches with the link into its port, always in the same
/// order.
template <class Visit>
void for_each_unit(const Fabric& fabric, const Visit& visit) {
    for (const auto& node : fabric.switches())
        for (std::size_t port = 0; port < node->incoming().size(); ++port)
            if (const ReductionUnit* unit = node->unit(port))
                visit(*node->incoming()[port], *unit);
}

}  // namespace switchfold
