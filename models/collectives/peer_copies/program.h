// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

/// One action on one array of an all-reduce by copies.
struct CopyStep {
    enum class Kind : std::uint8_t {
        kPeerCopy,  ///< between two members
        kSum,       ///< member `to` adds received data to its own
        kToHost,    ///< from member `from`
        kHostSum,   ///< a host thread adds received data
        kToDevice,  ///< to member `to`
    };
    Kind kind = Kind::kPeerCopy;
    std::uint32_t array = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t terms = 0;           ///< sums: number of terms, including its own
    bool sum = false;                  ///< copies: whether they carry the complete sum
    std::vector<std::uint32_t> after;  ///< earlier steps that it waits for, by index
};

/// An all-reduce by copies among members 0..n-1, as a graph of dependencies. A free resource takes
/// the step that has been ready for longest; ties go to the first in the list.
struct CopyProgram {
    std::vector<std::uint64_t> arrays;  ///< bytes of each
    std::vector<CopyStep> steps;
};

/// Arrays of `most` bytes, and one with the rest.
[[nodiscard]] std::vector<std::uint64_t> cut_into_arrays(std::uint64_t bytes, std::uint64_t most);

/// Array i is owned by member i mod `owners`: all others copy theirs to it; it adds them and copies
/// the sum back (MXNet's key-value store "device"; a parameter server).
[[nodiscard]] CopyProgram
exchange_by_owners(std::uint32_t members, std::vector<std::uint64_t> arrays, std::uint32_t owners);

/// Parents of members, with the root its own parent; array i uses tree i mod size. A member adds
/// what its children send and sends the sum on; the result returns along the same tree.
using ReduceTree = std::vector<std::uint32_t>;
[[nodiscard]] CopyProgram
exchange_by_trees(std::vector<std::uint64_t> arrays, const std::vector<ReduceTree>& trees);

/// All members copy an array to the host, which adds them and copies the sum to all.
[[nodiscard]] CopyProgram
exchange_by_host(std::uint32_t members, std::vector<std::uint64_t> arrays);

}  // namespace switchfold
