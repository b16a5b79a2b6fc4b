// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// Kind of host memory at a copy's end.
enum class HostMemory : std::uint8_t {
    kPinned,    ///< the GPU's engine accesses it directly: copies are asynchronous
    kPageable,  ///< a host thread copies along, piece by piece
};
template <>
struct EnumNames<HostMemory> {
    static constexpr std::array<std::pair<HostMemory, std::string_view>, 2> kNames{
        {{HostMemory::kPinned, "pinned"}, {HostMemory::kPageable, "pageable"}}};
};

/// How a framework exchanges data by its own copies.
struct PeerCopyPolicy {
    Bytes array = mebibytes(4);
    std::uint32_t arrays = 0;
    std::uint32_t owners = 0;
    std::uint32_t trees = 0;
    HostMemory memory = HostMemory::kPinned;
    std::uint32_t host_threads = 1;
    bool operator==(const PeerCopyPolicy&) const = default;

    static constexpr auto fields() {
        return list_of(
            field(
                "array", &PeerCopyPolicy::array,
                "Largest array: the collective is divided into arrays of at most this size, like a "
                "network's gradients, each transferred and added as one.",
                kibibytes(1), mebibytes(65'536)),
            field(
                "arrays", &PeerCopyPolicy::arrays,
                "Number of arrays of one size that the collective is divided into, instead of by "
                "the largest; 0: by the largest.",
                0U, 1'000'000U),
            field(
                "owners", &PeerCopyPolicy::owners,
                "owners: number of ranks, from the first, that add arrays in turn and return the "
                "sums, like parameter servers; 0: all ranks.",
                0U, 1024U),
            field(
                "trees", &PeerCopyPolicy::trees,
                "topology_tree: number of trees with different roots, which arrays use in turn; 0: "
                "one per rank.",
                0U, 16U),
            field(
                "memory", &PeerCopyPolicy::memory,
                "host: pinned, accessed directly by the GPUs' engines, or pageable, with a host "
                "thread that copies along."),
            field(
                "host_threads", &PeerCopyPolicy::host_threads,
                "host: threads that add and, with pageable memory, copy.", 1U, 256U));
    }
};

/// Costs of such copies on a machine.
struct PeerCopyParams {
    Time call = microseconds(10);
    std::uint32_t at_once = 2;
    Bytes outstanding = kibibytes(512);
    Bandwidth host_add = gigabytes_per_second(10);
    Bandwidth host_memory = gigabytes_per_second(40);
    Bandwidth pageable = gigabytes_per_second(6);
    static constexpr auto fields() {
        return list_of(
            field(
                "call", &PeerCopyParams::call,
                "Delay of each copy or sum after it could begin: the framework's queue, the call, "
                "and the wait for its end.",
                Time(0), microseconds(10'000)),
            field(
                "at_once", &PeerCopyParams::at_once,
                "Limit on concurrent copies of one GPU, outbound and to or from the host.", 1U,
                64U),
            field(
                "outstanding", &PeerCopyParams::outstanding,
                "Bytes in flight of a copy between GPUs; its unit of arbitration on shared links.",
                kibibytes(1), mebibytes(64)),
            field(
                "host_add", &PeerCopyParams::host_add,
                "Bytes per second that one host thread reads and writes while adding.",
                Bandwidth(1'000'000), gigabytes_per_second(10'000)),
            field(
                "host_memory", &PeerCopyParams::host_memory,
                "The same for all threads of a machine together.", Bandwidth(1'000'000),
                gigabytes_per_second(10'000)),
            field(
                "pageable", &PeerCopyParams::pageable,
                "Bytes a second of a copy between a GPU and pageable memory.", Bandwidth(1'000'000),
                gigabytes_per_second(10'000)));
    }
};

}  // namespace switchfold
