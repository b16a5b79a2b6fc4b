// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// Caches of a core and the interconnect between cores.
struct ProcessorCacheParams {
    std::uint32_t line = 64;
    Bytes private_capacity = kibibytes(512);
    double private_cycles_per_line = 1;
    Bytes shared_capacity;
    Time shared_latency;
    Time remote_latency;
    std::uint32_t ring_bytes_per_cycle = 64;
    std::uint32_t atomic_cycles = 1;
    static constexpr auto fields() {
        using P = ProcessorCacheParams;
        return list_of(
            field("line", &P::line, "Bytes of a cache line.", 4U, 4096U),
            field(
                "private_capacity", &P::private_capacity,
                "Size of a core's outermost private cache.", Bytes(1), mebibytes(1024))
                .required(),
            field(
                "private_cycles_per_line", &P::private_cycles_per_line,
                "Clock cycles of a core's own cache per line read, without overlap.", 0.0, 1000.0)
                .required(),
            field(
                "shared_capacity", &P::shared_capacity,
                "Size of a cache shared by all cores; 0 B: none.", Bytes(0), mebibytes(65'536)),
            field(
                "shared_latency", &P::shared_latency, "Latency of the shared cache.", Time(),
                microseconds(100)),
            field(
                "remote_latency", &P::remote_latency,
                "Latency to a line in another core's cache, including the directory's answer.",
                picoseconds(1), microseconds(100))
                .required(),
            field(
                "ring_bytes_per_cycle", &P::ring_bytes_per_cycle,
                "Bytes per cycle that each direction of the ring moves between neighbours.", 1U,
                4096U)
                .required(),
            field(
                "atomic_cycles", &P::atomic_cycles,
                "Cycles of an atomic addition to a line in the core's cache.", 1U, 10'000U)
                .required());
    }
};

/// Memory behind the caches.
struct ProcessorMemoryParams {
    Bytes capacity;
    Bandwidth peak;
    double sustained = 1;
    std::uint32_t channels = 1;
    std::uint32_t banks = 1;
    Time row_open;
    Time latency;
    std::uint32_t lines_of_thread = 1;
    std::uint32_t lines_of_core = 1;
    static constexpr auto fields() {
        using P = ProcessorMemoryParams;
        return list_of(
            field(
                "capacity", &P::capacity, "Capacity of the memory.", Bytes(1),
                mebibytes(16'777'216))
                .required(),
            field(
                "peak", &P::peak, "Peak rate of all channels together.", Bandwidth(1),
                gigabytes_per_second(100'000))
                .required(),
            field(
                "sustained", &P::sustained,
                "Share of the peak that reads and writes reach at best, after turn-around and "
                "refresh.",
                0.01, 1.0),
            field("channels", &P::channels, "Independent memory channels.", 1U, 1024U).required(),
            field(
                "banks", &P::banks,
                "Rows that can be open at the same time; more streams than this reopen rows.", 1U,
                1'048'576U)
                .required(),
            field(
                "row_open", &P::row_open,
                "Time that a channel loses for a line whose row is not open.", Time(),
                microseconds(1))
                .required(),
            field(
                "latency", &P::latency, "Latency from a core's miss to the line, under load.",
                picoseconds(1), microseconds(100))
                .required(),
            field(
                "lines_of_thread", &P::lines_of_thread,
                "Lines in flight per thread, including prefetched ones.", 1U, 4096U)
                .required(),
            field(
                "lines_of_core", &P::lines_of_core, "Lines in flight for all threads of a core.",
                1U, 4096U)
                .required());
    }
};

}  // namespace switchfold
