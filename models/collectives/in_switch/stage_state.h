// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ring_queue.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// What one head's block of one channel has of the sums of its piece, and of what it stores; beside
/// the loops that it shares with every NVLS kernel.
struct StageBlock {
    bool spreading = false;
    bool store_due = false;            ///< an event is under way that lets the storing warps go on
    std::uint64_t through = 0;         ///< ps: its sums are in memory
    std::uint64_t complete = 0;        ///< bytes answered from the piece's begin on
    std::uint64_t taken = 0;           ///< by whoever hands them on
    std::vector<std::uint64_t> early;  ///< begins of answers beyond
    std::uint64_t stored = 0;          ///< bytes of the piece being spread
    std::uint32_t unsent = 0;          ///< stores that wait for credits
    RingQueue<std::uint64_t> departures;  ///< ps, of the last stores

    /// The sum of `unit` bytes from `offset` of the piece, `all` bytes long, is there.
    void note_answer(std::uint64_t offset, std::uint64_t unit, std::uint64_t all);
};

}  // namespace switchfold
