// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// How an undisturbed collective passed. Pure data, without a clock.
struct RecordedCollective {
    /// One thing that a member was told.
    struct Told {
        Time at;  ///< since the last member had joined
        std::uint32_t position = 0;
        std::uint32_t left = 0;  ///< rounds that remain of `all`; 0: it moves no more data
        std::uint32_t all = 0;
    };
    /// How its members came to it.
    struct Joining {
        bool late = false;  ///< the last one, while the others had begun
        Time spread;        ///< from the first member's joining to the last one's
        Time alone;         ///< from the last but one's
    };
    Joining joining;
    std::vector<Told> told;       ///< by time
    std::vector<double> traffic;  ///< counts of the machine's components

    /// Until the first member moves no more data.
    [[nodiscard]] Time first_done() const;
    /// Differences in its members' joining that change little.
    [[nodiscard]] Time ignored() const;
    /// Whether one passes alike whose members come like that: at once, or all but one so early that
    /// they have moved what they can.
    [[nodiscard]] bool suits(const Joining& other) const;
};

}  // namespace switchfold
