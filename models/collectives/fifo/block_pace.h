// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/fifo/fifo.h"
#include "models/collectives/fifo/step.h"

#include <array>
#include <cstdint>

namespace switchfold {

/// Number of peers in a bit set; std::popcount would be a call.
[[nodiscard]] inline std::uint32_t peers_in(unsigned bits) {
    constexpr std::array<std::uint8_t, 1U << kMaxPeers> kCounts{0, 1, 1, 2, 1, 2, 2, 3};
    return kCounts[bits % kCounts.size()];
}

/// An SM on which the halves of an exchange's thread block run: those that send and those that
/// receive.
struct BlockSm {
    std::uint32_t streams = 0;  ///< loads and stores of each byte by all halves that are at work
};

/// How fast one thread block, or a half of one, moves the data of its steps.
class BlockPace {
public:
    /// Takes share of the warps and rate of a stage from the plan.
    BlockPace(const Transport& transport, BlockSm& sm, const BlockPlan& plan);

    /// The block begins a slice of the step; `over_host`: bit set of its sending connections over
    /// the host's PCIe.
    void begin(const Step& step, std::uint8_t over_host);
    /// It has moved the slice.
    void end() { sm_.streams -= streams_; }

    /// ps that `bytes` take the block, peers' links and memory aside.
    [[nodiscard]] std::uint64_t time_of(std::uint32_t bytes);
    /// Earliest time (ps) at which the block can start its next unit, after bytes [done, done +
    /// bytes) of the step at `now`.
    [[nodiscard]] std::uint64_t
    next_after(std::uint64_t now, const Step& step, std::uint64_t done, std::uint32_t bytes);
    /// ps by which its stores to the rank's own buffer delay what it sends of the step.
    [[nodiscard]] std::uint64_t delay_of_stores(const Step& step) const;
    /// The step is done at `now` (ps).
    void end_step(std::uint64_t now);
    /// ps before which its threads begin no other round.
    [[nodiscard]] std::uint64_t round_until() const { return round_until_; }

private:
    /// ps that a round of the step takes the block to store in the rank's own buffer.
    [[nodiscard]] std::uint64_t round_stores(const Step& step) const;
    [[nodiscard]] std::uint64_t warps_time_of(std::uint32_t bytes) const;

    const Transport& transport_;
    BlockSm& sm_;
    std::uint64_t warps_time_ = 0;            ///< ps for timed_bytes_ bytes
    std::uint32_t timed_bytes_ = UINT32_MAX;  ///< bytes that warps_time_ applies to
    std::uint32_t warps_;
    std::uint32_t streams_ = 0;  ///< loads and stores of each byte of the step
    std::uint8_t over_host_ = 0;
    bool adds_ = false;  ///< the step adds to the rank's own data
    bool staged_;
    Bandwidth stage_rate_;
    std::uint64_t round_until_ = 0;
};

}  // namespace switchfold
