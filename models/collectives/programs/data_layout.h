// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/fifo/step.h"
#include "models/collectives/programs/program.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace switchfold::programs {

/// Where the places of a program lie, in bytes: each instance has its part of the buffer, or of
/// every share, which its chunks divide; they are worked on piece by piece, as NCCL's loops do.
class DataLayout {
public:
    /// `bytes` of the whole buffer, `share` of a rank where there are shares; `most`: of a piece.
    DataLayout(
        const Program& program, std::uint64_t bytes, std::uint64_t share, std::uint64_t most,
        std::uint32_t bundle);

    /// Pieces of the longest chunk.
    [[nodiscard]] std::uint64_t loops() const { return loops_; }
    /// Of a chunk of this instance, the piece of that loop: from its begin on.
    [[nodiscard]] Part piece(std::uint32_t instance, std::uint32_t chunk, std::uint64_t loop) const;
    /// Where a place of the rank begins in its memory.
    [[nodiscard]] std::uint64_t
    address(std::uint32_t rank, std::uint32_t instance, std::uint32_t place) const;
    /// Whether a place is one that can be worked on with the next one at once: the chunks there are
    /// whole and small.
    [[nodiscard]] std::uint32_t at_once() const { return at_once_; }
    /// Bytes of a rank's memory: buffer, input, scratch.
    [[nodiscard]] std::uint64_t memory(std::uint32_t rank) const;
    /// Where its input begins, if that is not the buffer.
    [[nodiscard]] std::uint64_t input() const { return input_; }
    [[nodiscard]] std::uint64_t chunk_bytes() const { return chunk_; }

private:
    struct Instance {
        Part part;
        std::uint64_t chunk = 0;  ///< bytes of each but the last
    };
    const Program& program_;
    std::uint64_t stride_;   ///< of shares in the buffer
    std::uint64_t piece_;    ///< most bytes of one
    std::uint64_t input_;    ///< offset
    std::uint64_t scratch_;  ///< offset
    std::uint64_t chunk_ = 0;
    std::uint64_t loops_ = 1;
    std::uint32_t at_once_ = 1;
    std::vector<Instance> instances_;
};

}  // namespace switchfold::programs
