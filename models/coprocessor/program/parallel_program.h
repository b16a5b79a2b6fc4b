// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace switchfold::offload {

/// Dot products over a batch, written as loops: rows over cores, neurons over each core's threads
/// and lanes.
struct ProductLoop {
    std::uint64_t rows = 0;   ///< divided among the teams of threads
    std::uint64_t width = 0;  ///< results per row or block, divided among threads and lanes
    std::uint64_t depth = 0;  ///< multiply-adds per row and result
    /// Most values of one dimension whose multiply-adds share a loaded vector; 0: a team's rows.
    std::uint64_t block = 0;
    std::uint64_t shared_bytes = 0;  ///< read by every team: weights
    std::uint64_t row_bytes = 0;     ///< read and written per row besides them
    std::uint64_t team_bytes = 0;    ///< written by each team to private memory: its gradient
    std::uint64_t operations = 0;    ///< additional vector operations per row and result
    bool sigmoid = false;            ///< of every result
};

/// An element-wise pass over arrays.
struct ElementLoop {
    std::uint64_t elements = 0;
    std::uint64_t bytes_read = 0;     ///< per element
    std::uint64_t bytes_written = 0;  ///< per element
    std::uint64_t arrays = 0;         ///< concurrent streams per thread
    std::uint64_t operations = 0;     ///< vector operations per vector of elements
    bool from_other_teams = false;    ///< the data read was written by another core
    bool sigmoid = false;             ///< of every element
};

/// C = A B by a matrix library: `m` x `n` results, sums of `k` terms.
struct LibraryProduct {
    std::uint64_t m = 0;
    std::uint64_t n = 0;
    std::uint64_t k = 0;
};

/// Every team adds its values to one array with atomic operations.
struct AtomicSum {
    std::uint64_t elements = 0;
};

/// The teams' private copies are added pairwise, with one barrier per level.
struct TreeSum {
    std::uint64_t elements = 0;
};

using Work = std::variant<ProductLoop, ElementLoop, LibraryProduct, AtomicSum, TreeSum>;

enum class Phase : std::uint8_t { kForward, kBackward, kUpdate };

/// A parallel region: one fork, its parts in sequence on each thread, one barrier.
struct Region {
    std::string name;
    Phase phase = Phase::kForward;
    std::vector<Work> parts;
};

/// Work of a processor for one mini-batch.
struct ParallelProgram {
    std::vector<Region> regions;
    std::uint64_t samples = 0;
    std::uint64_t bytes_in = 0;   ///< from the host's memory
    std::uint64_t bytes_out = 0;  ///< back to it
    /// Bytes held in the processor's memory, except the teams' gradients and transfer buffers.
    std::uint64_t resident_bytes = 0;
    std::uint64_t team_bytes = 0;  ///< additional bytes for each team's gradient
    double flops = 0;              ///< of the model itself, without recomputation
};

}  // namespace switchfold::offload
