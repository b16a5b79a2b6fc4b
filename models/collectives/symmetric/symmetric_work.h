// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/fifo/step.h"
#include "models/collectives/symmetric/symmetric_move.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// How a symmetric kernel divides a rank's bytes among its groups of cooperating warps. Kernels
/// through the switch and LL kernels assign pieces to warps. Those that load from or store to each
/// peer assign chunks to groups of four warps: first whole rounds of all blocks (16 bytes per
/// load), then whole rounds of single elements, then the rest.
class SymmetricWork {
public:
    /// `bytes`: the whole buffer for kernels in which ranks share the work (all-reduce except LL),
    /// otherwise the bytes that each rank works on. Through the switch, and for lines, a piece is
    /// one packet of at most `unit` bytes.
    SymmetricWork(
        const SymmetricMove& move, CollectiveKind kind, std::uint32_t ranks, std::uint32_t blocks,
        std::uint32_t threads, std::uint64_t bytes, std::uint32_t element_bytes,
        std::uint32_t unit);

    /// Groups of warps per block that proceed independently.
    [[nodiscard]] std::uint32_t workers() const { return workers_; }
    /// Peers that a worker loads from at once.
    [[nodiscard]] std::uint32_t peers_at_once() const { return peers_at_once_; }
    /// Piece `index` of a worker; nothing after the last.
    [[nodiscard]] std::optional<Part>
    piece(std::uint32_t rank, std::uint32_t block, std::uint32_t worker, std::uint64_t index) const;

private:
    /// Pieces of equal size, assigned in turn.
    struct Phase {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t piece = 0;
        [[nodiscard]] std::uint64_t count() const { return (end - begin + piece - 1) / piece; }
    };
    void add_phase(std::uint64_t end, std::uint64_t piece);
    /// Adds the largest multiple of `round` bytes.
    void add_rounds(std::uint64_t bytes, std::uint64_t piece, std::uint64_t round);

    std::uint32_t dealers_ = 1;  ///< ranks that share the work
    std::uint32_t blocks_;
    std::uint32_t workers_ = 1;
    std::uint32_t peers_at_once_ = 1;
    std::vector<Phase> phases_;
};

}  // namespace switchfold
