// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/fifo/step.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// How collectives through the switch cut a buffer: channels, in each loops, in each loop one piece
/// a head.
class NvlsChunks {
public:
    /// One buffer of `bytes`; in every loop the heads' pieces follow each other. The last loop's
    /// are multiples of `align`, channels' parts of `grain`.
    static NvlsChunks contiguous(
        std::uint64_t bytes, std::uint32_t channels, std::uint32_t heads, std::uint64_t chunk,
        std::uint64_t align = kGrain, std::uint64_t grain = kGrain);
    /// One block of `stride` bytes a head, as reduce-scatter and all-gather have it.
    static NvlsChunks
    blocks(std::uint64_t stride, std::uint32_t channels, std::uint32_t heads, std::uint64_t chunk);

    [[nodiscard]] std::uint32_t channels() const {
        return static_cast<std::uint32_t>(parts_.size());
    }
    [[nodiscard]] std::uint32_t heads() const { return heads_; }
    /// Loops that are carried out.
    [[nodiscard]] std::uint64_t loops(std::uint32_t channel) const {
        return loops_[channel] - skipped_[channel];
    }
    /// Leaves out so many loops in front of the last, which nobody has begun: what follows keeps
    /// its number, and the last is the last of all.
    void skip(std::uint32_t channel, std::uint64_t loops) { skipped_[channel] += loops; }
    [[nodiscard]] Part piece(std::uint32_t channel, std::uint64_t loop, std::uint32_t head) const;
    /// Heads whose piece is not empty; fewer than all only in the last loop.
    [[nodiscard]] std::uint32_t working_heads(std::uint32_t channel, std::uint64_t loop) const;
    /// Of all heads.
    [[nodiscard]] std::uint64_t loop_bytes(std::uint32_t channel, std::uint64_t loop) const;

private:
    NvlsChunks(std::uint32_t heads, std::uint64_t chunk, std::uint64_t stride) :
        heads_(heads), chunk_(chunk), stride_(stride) {}
    void cut(std::uint64_t bytes, std::uint32_t channels, std::uint64_t grain = kGrain);
    /// Bytes in front of that loop in the channel's part.
    [[nodiscard]] std::uint64_t before(std::uint32_t channel, std::uint64_t loop) const {
        const bool last = loop + 1 == loops(channel);
        return (loop + (last ? skipped_[channel] : 0)) * loop_span();
    }
    /// Bytes of a channel's part that one loop covers.
    [[nodiscard]] std::uint64_t loop_span() const {
        return stride_ == 0 ? heads_ * chunk_ : chunk_;
    }

    std::uint32_t heads_;
    std::uint64_t chunk_;
    std::uint64_t align_ = kGrain;
    std::uint64_t stride_;                ///< 0: the heads' pieces follow each other
    std::vector<Part> parts_;             ///< by channel; of one block if there are blocks
    std::vector<std::uint64_t> loops_;    ///< by channel
    std::vector<std::uint64_t> skipped_;  ///< of these
};

}  // namespace switchfold
