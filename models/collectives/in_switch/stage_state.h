// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/in_switch/in_switch_steps.h"
#include "sim/core/ring_queue.h"
#include "sim/core/units.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One member's thread block of one channel: its groups of warps. Counters are in loops.
struct StageBlock {
    bool scattering = false;
    bool reducing = false;  ///< or polling
    bool spreading = false;
    bool store_due = false;  ///< an event is under way that lets the storing warps go on
    bool gathering = false;
    std::uint64_t scattered = 0;
    std::uint64_t seen = 0;  ///< loops that the last poll saw posted by everybody
    std::uint64_t reduced = 0;
    std::uint64_t spread = 0;
    std::uint64_t gathered = 0;
    std::uint32_t scatter_piece = 0;  ///< head whose piece is copied
    std::uint32_t gather_piece = 0;
    Time poll_since;
    Time sampled;
    std::uint32_t turn = 0;               ///< its number in the log of turns
    std::uint64_t through = 0;            ///< ps: its sums are in memory
    std::uint64_t requested = 0;          ///< bytes of the piece under reduction
    std::uint64_t answered = 0;           ///< in any order
    std::uint64_t complete = 0;           ///< answered from the piece's begin on
    std::uint64_t taken = 0;              ///< by whoever hands them on
    std::vector<std::uint64_t> early;     ///< begins of answers beyond
    std::uint64_t stored = 0;             ///< bytes of the piece being spread
    std::uint32_t unsent = 0;             ///< stores that wait for credits
    RingQueue<std::uint64_t> departures;  ///< ps, of the last stores

    /// The sum of `unit` bytes from `offset` of the piece, `all` bytes long, is there.
    void note_answer(std::uint64_t offset, std::uint64_t unit, std::uint64_t all);
};

/// One loop of one channel on its way.
struct StageSlot {
    std::uint64_t loop = 0;
    std::uint32_t posted = 0;  ///< members that have scattered and said so
    Time posted_at;            ///< when the last of them had
    std::uint32_t heads = 0;   ///< whose sums are at every member, acknowledged and posted
    Time heads_at;
    std::uint32_t ended = 0;               ///< members that are through
    std::vector<std::uint64_t> delivered;  ///< by head: bytes of its sums, over all members
    std::vector<Time> delivered_at;
};

struct StageChannel {
    std::uint64_t loops = 0;
    std::uint64_t posted = 0;    ///< loops that every member has posted
    std::uint64_t finished = 0;  ///< loops that every member is through
    std::vector<StageSlot> slots;
    StageWarps warps;
    std::uint32_t unit = 0;  ///< most bytes of a packet
    [[nodiscard]] StageSlot& slot(std::uint64_t loop) { return slots[loop % slots.size()]; }
};

}  // namespace switchfold
