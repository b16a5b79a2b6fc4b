// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/units.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
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
    std::uint32_t owners = 0;
    std::uint32_t trees = 0;
    HostMemory memory = HostMemory::kPinned;
    std::uint32_t host_threads = 1;
    bool operator==(const PeerCopyPolicy&) const = default;

    static constexpr auto fields() {
        return std::tuple{
            field(
                "array",
                &PeerCopyPolicy::array,
                "What travels and is added as one: the collective is cut into arrays of at most "
                "this size, as a network's gradients are.",
                kibibytes(1),
                mebibytes(65'536)),
            field(
                "owners",
                &PeerCopyPolicy::owners,
                "owners: the first so many ranks add arrays and hand them out, in turn, as "
                "parameter servers do; 0: all ranks.",
                0U,
                1024U),
            field(
                "trees",
                &PeerCopyPolicy::trees,
                "topology_tree: trees with other roots, which arrays take in turn; 0: one a rank.",
                0U,
                16U),
            field(
                "memory",
                &PeerCopyPolicy::memory,
                "host: pinned, which the GPUs' engines reach, or pageable, where a host thread "
                "copies along."),
            field(
                "host_threads",
                &PeerCopyPolicy::host_threads,
                "host: threads that add and, with pageable memory, copy.",
                1U,
                256U)};
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
        return std::tuple{
            field(
                "call",
                &PeerCopyParams::call,
                "From the moment a copy or sum can begin until it does: the framework's queue, the "
                "call, and the wait for its end.",
                Time(0),
                microseconds(10'000)),
            field(
                "at_once",
                &PeerCopyParams::at_once,
                "Copies of one GPU that are under way at a time, out of it and to or from the "
                "host.",
                1U,
                64U),
            field(
                "outstanding",
                &PeerCopyParams::outstanding,
                "Bytes of a copy between GPUs that are on their way at once: by so much it takes "
                "its turn on links that it shares.",
                kibibytes(1),
                mebibytes(64)),
            field(
                "host_add",
                &PeerCopyParams::host_add,
                "Bytes a second that one host thread reads and writes while it adds.",
                Bandwidth(1'000'000),
                gigabytes_per_second(10'000)),
            field(
                "host_memory",
                &PeerCopyParams::host_memory,
                "The same of all threads of a machine together.",
                Bandwidth(1'000'000),
                gigabytes_per_second(10'000)),
            field(
                "pageable",
                &PeerCopyParams::pageable,
                "Bytes a second of a copy between a GPU and pageable memory.",
                Bandwidth(1'000'000),
                gigabytes_per_second(10'000))};
    }
};

}  // namespace switchfold
