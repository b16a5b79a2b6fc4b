// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

/// One thing that is done with one array of an all-reduce by copies.
struct CopyStep {
    enum class Kind : std::uint8_t {
        kPeerCopy,  ///< from a member to another
        kSum,       ///< the member `to` adds what has come to its own
        kToHost,    ///< of the member `from`
        kHostSum,   ///< a host thread adds what has come
        kToDevice,  ///< of the member `to`
    };
    Kind kind = Kind::kPeerCopy;
    std::uint32_t array = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t terms = 0;           ///< of a sum: what it adds, the own among them
    bool sum = false;                  ///< of a copy: it carries the whole sum
    std::vector<std::uint32_t> after;  ///< steps that it waits for, each with a smaller index
};

/// An all-reduce by copies among members 0..n-1: what waits for what. Who has a turn takes the step
/// that has been ready for longest; of several the first in the list.
struct CopyProgram {
    std::vector<std::uint64_t> arrays;  ///< bytes of each
    std::vector<CopyStep> steps;
};

/// Arrays of `most` bytes and what is left.
[[nodiscard]] std::vector<std::uint64_t> cut_into_arrays(std::uint64_t bytes, std::uint64_t most);

/// Every array has an owner, member i mod `owners` of array i: all others copy theirs to it, it
/// adds them and copies the sum back (MXNet's key-value store "device"; a parameter server).
[[nodiscard]] CopyProgram
exchange_by_owners(std::uint32_t members, std::vector<std::uint64_t> arrays, std::uint32_t owners);

/// Parents of members, the root its own; array i takes tree i mod size. A member adds what its
/// children send and sends it on; the sum comes back down the same tree.
using ReduceTree = std::vector<std::uint32_t>;
[[nodiscard]] CopyProgram
exchange_by_trees(std::vector<std::uint64_t> arrays, const std::vector<ReduceTree>& trees);

/// All members copy an array to the host, which adds and copies the sum to all.
[[nodiscard]] CopyProgram
exchange_by_host(std::uint32_t members, std::vector<std::uint64_t> arrays);

}  // namespace switchfold
