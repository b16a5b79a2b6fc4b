// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace switchfold::offload {

/// Sums of products over a batch, written as loops: rows over cores, neurons over a core's threads
/// and lanes.
struct ProductLoop {
    std::uint64_t rows = 0;   ///< shared out over the teams of threads
    std::uint64_t width = 0;  ///< results that threads and lanes share out, of each row or block
    std::uint64_t depth = 0;  ///< multiply-adds a row and result
    /// Values of one dimension whose multiply-adds share a loaded vector, at most; 0: a team's
    /// rows.
    std::uint64_t block = 0;
    std::uint64_t shared_bytes = 0;  ///< that every team reads: weights
    std::uint64_t row_bytes = 0;     ///< that a row reads and writes beside them
    std::uint64_t team_bytes = 0;    ///< that each team writes to a place of its own: its gradient
    std::uint64_t operations = 0;    ///< vector operations a row and result beside the sums
};

/// A walk over arrays.
struct ElementLoop {
    std::uint64_t elements = 0;
    std::uint64_t bytes_read = 0;     ///< an element
    std::uint64_t bytes_written = 0;  ///< an element
    std::uint64_t arrays = 0;         ///< streams that a thread has open
    std::uint64_t operations = 0;     ///< vector operations on each vector of elements
    bool from_other_teams = false;    ///< what is read was written by another core
};

/// C = A B by a matrix library: `m` x `n`, sums of `k` terms.
struct LibraryProduct {
    std::uint64_t m = 0;
    std::uint64_t n = 0;
    std::uint64_t k = 0;
};

/// Every team adds its values to one array with atomic operations.
struct AtomicSum {
    std::uint64_t elements = 0;
};

/// The teams' private copies are added pairwise, with a barrier a level.
struct TreeSum {
    std::uint64_t elements = 0;
};

using Work = std::variant<ProductLoop, ElementLoop, LibraryProduct, AtomicSum, TreeSum>;

enum class Phase : std::uint8_t { kForward, kBackward, kUpdate };

/// A parallel region: one fork, its parts one after the other on each thread, one barrier.
struct Region {
    std::string name;
    Phase phase = Phase::kForward;
    std::vector<Work> parts;
};

/// What a processor does for one mini-batch.
struct ParallelProgram {
    std::vector<Region> regions;
    std::uint64_t samples = 0;
    std::uint64_t bytes_in = 0;   ///< from the host's memory
    std::uint64_t bytes_out = 0;  ///< back to it
    /// Of the processor's memory, but for the teams' gradients and the buffers of transfers.
    std::uint64_t resident_bytes = 0;
    std::uint64_t team_bytes = 0;  ///< of it for each team's gradient
    double flops = 0;              ///< of the model's own arithmetic: nothing computed again
};

}  // namespace switchfold::offload
