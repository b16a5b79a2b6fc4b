// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// How many warps of a block copy, and in which direction.
struct NvlsCopyWarps {
    std::uint32_t scatter = 0;
    std::uint32_t gather = 0;
};

/// One member's thread block of one channel. Counters are in loops.
struct NvlsBlock {
    bool scattering = false;
    bool reducing = false;  ///< or polling
    bool gathering = false;
    std::uint64_t scattered = 0;
    std::uint64_t seen = 0;  ///< loops that the last poll saw posted by everybody
    std::uint64_t reduced = 0;
    std::uint64_t stored = 0;  ///< loops whose final piece this head has stored
    std::uint64_t gathered = 0;
    std::uint64_t ended = 0;
    std::uint32_t scatter_piece = 0;  ///< head whose piece is copied
    std::uint32_t gather_piece = 0;
    Time poll_since;
    Time sampled;
    std::uint64_t requested = 0;  ///< bytes of the piece under reduction
    std::uint64_t answered = 0;   ///< in any order
    std::uint32_t turn = 0;       ///< its first number in the log of turns
};

/// One loop of one channel on its way.
struct NvlsSlot {
    std::uint64_t loop = 0;
    std::uint32_t posted = 0;  ///< members that have scattered and said so
    Time posted_at;            ///< when the last of them had
    std::uint32_t heads = 0;   ///< whose sums are at every member, acknowledged and posted
    Time heads_at;
    std::uint32_t ended = 0;             ///< members that are through
    std::vector<std::uint64_t> missing;  ///< by head: bytes of its sums, over all members
    std::vector<Time> delivered_at;
};

struct NvlsChannel {
    std::uint64_t loops = 0;
    std::uint64_t posted = 0;    ///< loops that every member has posted
    std::uint64_t finished = 0;  ///< loops that every member is through
    std::vector<NvlsSlot> slots;
    NvlsCopyWarps warps;
    [[nodiscard]] NvlsSlot& slot(std::uint64_t loop) { return slots[loop % slots.size()]; }
    [[nodiscard]] std::uint32_t slot_of(std::uint64_t loop) const {
        return static_cast<std::uint32_t>(loop % slots.size());
    }
};

}  // namespace switchfold
