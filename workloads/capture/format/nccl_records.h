// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

/// Records from NCCL. records.h describes how records are declared.
namespace switchfold::capture {

/// A communicator, as reported by the NCCL profiler interface.
struct Communicator {
    static constexpr std::uint16_t kTag = 12;
    std::uint64_t hash = 0;
    std::string name;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;  ///< 0: not reported by this version of the interface
    std::uint32_t nodes = 0;
    constexpr auto fields() { return std::tie(hash, name, rank, ranks, nodes); }
};

/// A call of NCCL, recorded right after its kernel's launch on the same thread.
struct NcclCall {
    static constexpr std::uint16_t kTag = 13;
    std::uint64_t start = 0;
    std::uint32_t thread = 0;
    std::uint64_t communicator = 0;  ///< hash
    std::uint64_t sequence = 0;      ///< NCCL counts each kind of call per communicator
    std::string function;            ///< "AllReduce", "Send", ...
    std::string datatype;            ///< "ncclFloat32", ...
    std::uint64_t count = 0;         ///< elements
    std::uint32_t root_or_peer = 0;
    std::uint32_t channels = 0;
    std::uint32_t warps = 0;
    std::string algorithm;  ///< "RING", "TREE", "NVLS", ... or empty
    std::string protocol;   ///< "LL", "LL128", "SIMPLE" or empty
    constexpr auto fields() {
        return std::tie(
            start, thread, communicator, sequence, function, datatype, count, root_or_peer,
            channels, warps, algorithm, protocol);
    }
};

}  // namespace switchfold::capture
