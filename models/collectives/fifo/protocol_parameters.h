// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

enum class Protocol : std::uint8_t { kAuto, kLl, kLl128, kSimple };
template <>
struct EnumNames<Protocol> {
    static constexpr std::array<std::pair<Protocol, std::string_view>, 4> kNames{
        {{Protocol::kAuto, "auto"},
         {Protocol::kLl, "ll"},
         {Protocol::kLl128, "ll128"},
         {Protocol::kSimple, "simple"}}};
};

/// How one of NCCL's protocols moves data through a connection's FIFO.
struct ProtocolParams {
    Time start_overhead;
    Time hop_overhead = nanoseconds(1000);
    Time slices_hop;
    Time network_overhead;
    Time network_post;
    Time slice_overhead;
    Bandwidth block_rate = gigabytes_per_second(20);
    Bandwidth load_store_rate;
    Bandwidth gpu_rate;
    std::uint32_t threads = 512;
    Time threads_start;
    Time threads_hop;
    Bandwidth byte_stores;
    Time hidden_stores;

    static constexpr auto fields() {
        return list_of(
            field(
                "start_overhead", &ProtocolParams::start_overhead,
                "Time per collective before the first data movement, in addition to "
                "launch_latency.",
                Time(0), microseconds(1000)),
            field(
                "hop_overhead", &ProtocolParams::hop_overhead,
                "Software latency from data in the FIFO to the first store of the next hop: "
                "polling, barriers, fences.",
                Time(0), microseconds(1000)),
            field(
                "slices_hop", &ProtocolParams::slices_hop,
                "Added to hop_overhead inside a machine, with Simple, where a chunk is handed "
                "over in several slices: in rings of all-reduce, all-gather and reduce-scatter. "
                "Trees and exchanges hand over whole chunks.",
                Time(0), microseconds(1000)),
            field(
                "network_overhead", &ProtocolParams::network_overhead,
                "Added to hop_overhead for data from the network: the receiving proxy's poll and "
                "the flush of the network interface's writes.",
                Time(0), microseconds(1000)),
            field(
                "network_post", &ProtocolParams::network_post,
                "Time per step that is handed to the proxy: the fence behind the block's stores, "
                "and the counter that the proxy polls. With Simple a warp of its own does it; with "
                "LL and LL128 the block does, in addition to slice_overhead.",
                Time(0), microseconds(1000)),
            field(
                "slice_overhead", &ProtocolParams::slice_overhead,
                "Time that a thread block spends per slice (Simple) or chunk (LL, LL128) without "
                "moving data: barriers, and restarting loads.",
                Time(0), microseconds(1000)),
            field(
                "block_rate", &ProtocolParams::block_rate,
                "Limit on the payload rate of one thread block. LL moves 8 bytes a thread in "
                "rounds, "
                "which take as long however few threads take part.",
                Bandwidth(1'000'000), gigabytes_per_second(10'000)),
            field(
                "load_store_rate", &ProtocolParams::load_store_rate,
                "Rate at which an SM loads and stores bytes, of Simple. block_rate holds for a "
                "copy, one load and one store of each byte; each further load and store of a "
                "byte takes a block so much longer, and so do those of the block's other half, "
                "which sends while this one receives. At least twice block_rate; 0: block_rate "
                "alone.",
                Bandwidth(0), gigabytes_per_second(100'000)),
            field(
                "gpu_rate", &ProtocolParams::gpu_rate,
                "Limit on the payload rate of all thread blocks of a GPU together. They keep step "
                "with each other, so each has an equal share; 0: block_rate alone.",
                Bandwidth(0), gigabytes_per_second(100'000)),
            field("threads", &ProtocolParams::threads, "Threads of a block.", 32U, 1024U),
            field(
                "threads_start", &ProtocolParams::threads_start,
                "Part of launch_latency that the threads of a whole block take: a small collective "
                "has fewer.",
                Time(0), microseconds(1000)),
            field(
                "threads_hop", &ProtocolParams::threads_hop,
                "The same part of hop_overhead: each warp polls, and the barriers wait for all.",
                Time(0), microseconds(1000)),
            field(
                "byte_stores", &ProtocolParams::byte_stores,
                "Rate at which a thread block stores elements of one byte to the rank's own "
                "buffer, "
                "and as many of any other size: LL stores them one by one. 0: no time.",
                Bandwidth(0), gigabytes_per_second(10'000)),
            field(
                "hidden_stores", &ProtocolParams::hidden_stores,
                "Time of a round's stores to the rank's own buffer that passes beside the polling. "
                "What is longer delays the round's lines for the next rank.",
                Time(0), microseconds(1000)));
    }
};

}  // namespace switchfold
