// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// How busy each direction of each link was over time, in equally long bins.
struct LinkLoads {
    std::uint64_t bin_ps = 0;  ///< 0: was not recorded
    /// [hop][bin]: thousandths of what the link could carry; empty of a link that carried nothing.
    std::vector<std::vector<std::uint32_t>> thousandths;

    static constexpr auto fields() {
        using L = LinkLoads;
        return list_of(member("bin_ps", &L::bin_ps), member("thousandths", &L::thousandths));
    }
};

}  // namespace switchfold
