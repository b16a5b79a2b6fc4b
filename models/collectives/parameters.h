// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "models/collectives/copy/copy_parameters.h"
#include "models/collectives/experts/parameters.h"
#include "models/collectives/fifo/protocol_parameters.h"
#include "models/collectives/peer_copies/policy.h"
#include "models/collectives/symmetric/symmetric_parameters.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// Maker of the hosts' processors, by which NCCL's cost model limits LL across machines. Any that
/// is not AMD counts as Intel.
enum class HostProcessor : std::uint8_t { kIntel, kAmd };

template <>
struct EnumNames<HostProcessor> {
    static constexpr std::array<std::pair<HostProcessor, std::string_view>, 2> kNames{
        {{HostProcessor::kIntel, "intel"}, {HostProcessor::kAmd, "amd"}}};
};

/// GPU generation whose constants NCCL's choice of algorithm and protocol uses.
enum class TunerGeneration : std::uint8_t { kVolta, kAmpere, kHopper, kBlackwell };

template <>
struct EnumNames<TunerGeneration> {
    static constexpr std::array<std::pair<TunerGeneration, std::string_view>, 4> kNames{
        {{TunerGeneration::kVolta, "volta"},
         {TunerGeneration::kAmpere, "ampere"},
         {TunerGeneration::kHopper, "hopper"},
         {TunerGeneration::kBlackwell, "blackwell"}}};
};

/// Parameters of collectives on this machine's GPUs: NCCL's constants for the architecture.
struct CollectiveParams {
    Bytes transfer_unit = kibibytes(4);
    TunerGeneration tuner = TunerGeneration::kHopper;
    std::uint32_t nccl_version = 22'903;
    Time host_launch = microseconds(4);
    Time launch_latency = microseconds(5);
    Time launch_spread;
    std::uint32_t steps = 8;
    Bytes ll_buffer = kibibytes(512);
    Bytes ll128_buffer{4'915'200};
    Bytes simple_buffer = mebibytes(4);
    bool read_over_link = false;
    bool tree_cuts_small = false;
    std::uint32_t channels = 24;
    std::uint32_t in_switch_channels = 16;
    std::uint32_t in_switch_threads = 640;
    Bytes in_switch_chunk = kibibytes(128);
    Bytes in_switch_tree_chunk = kibibytes(64);
    Time in_switch_copy_round = nanoseconds(615);
    Bandwidth in_switch_copy_rate = gigabytes_per_second(80);
    Time in_switch_sync = nanoseconds(1500);
    Time push_poll = nanoseconds(500);
    Bytes outstanding_loads = kibibytes(64);
    Bytes outstanding_stores = kibibytes(16);
    std::uint32_t registers_per_thread = 96;
    Bytes shared_memory{88'016};
    Time proxy_overhead = nanoseconds(400);
    Time proxy_launch;
    bool automatic_in_switch = true;
    Protocol network_protocol = Protocol::kAuto;
    Time tuner_network_latency;
    HostProcessor host_processor = HostProcessor::kIntel;
    Bandwidth host_store_rate;
    Bandwidth proxy_copy_rate;
    Bandwidth proxy_scan_rate;
    Bandwidth byte_sum_rate;
    ProtocolParams ll;
    ProtocolParams ll128;
    ProtocolParams simple;
    ExpertsParams experts;
    SymmetricParams symmetric;
    CopyCollectiveParams copy_engine;
    PeerCopyParams peer_copies;

    void check(ParamChecker& checker) const;
    static constexpr auto fields() {
        return list_of(
            field(
                "transfer_unit", &CollectiveParams::transfer_unit,
                "Largest piece that travels as one packet train in the model, a multiple of 16 B; "
                "halving it must not change results.",
                Bytes(128), mebibytes(16)),
            field(
                "launch_latency", &CollectiveParams::launch_latency,
                "Sum of two latencies: from the launch of a collective's kernel to its first "
                "instruction that moves data, and from the last one to the stream's next "
                "operation.",
                Time(0), microseconds(1000)),
            field(
                "launch_spread", &CollectiveParams::launch_spread,
                "Mean of the part of a launch that differs between GPUs from launch to launch. A "
                "rank that awaits several peers at once waits for the latest of them; along rings "
                "such delays average.",
                Time(0), microseconds(1000)),
            field(
                "tuner", &CollectiveParams::tuner,
                "Generation whose constants of NCCL's cost model choose algorithm and protocol."),
            field(
                "nccl_version", &CollectiveParams::nccl_version,
                "Version of the library whose rules choose protocols, as NCCL writes it in one "
                "number: 22903 is 2.29.3.",
                20'000U, 99'999U),
            field(
                "host_launch", &CollectiveParams::host_launch,
                "Time a host thread takes to launch a collective on one GPU: where one process "
                "drives several GPUs, a loop of collectives cannot run faster than this times "
                "their number.",
                Time(0), microseconds(1000)),
            field(
                "steps", &CollectiveParams::steps, "Slots of a connection's FIFO (NCCL_STEPS).", 3U,
                64U),
            field(
                "ll_buffer", &CollectiveParams::ll_buffer, "FIFO of one connection, LL.",
                Bytes(1024), mebibytes(64)),
            field(
                "ll128_buffer", &CollectiveParams::ll128_buffer, "FIFO of one connection, LL128.",
                Bytes(1024), mebibytes(64)),
            field(
                "simple_buffer", &CollectiveParams::simple_buffer,
                "FIFO of one connection, Simple (NCCL_BUFFSIZE).", Bytes(1024), mebibytes(64)),
            field(
                "read_over_link", &CollectiveParams::read_over_link,
                "Simple protocol: the receiver loads from the sender's FIFO instead of the sender "
                "storing into the "
                "receiver's."),
            field(
                "channels", &CollectiveParams::channels,
                "Most channels inside a machine, one thread block each; across machines the number "
                "follows from the network interfaces.",
                1U, 64U),
            field(
                "in_switch_channels", &CollectiveParams::in_switch_channels,
                "Thread blocks of an in-switch collective.", 1U, 64U),
            field(
                "in_switch_threads", &CollectiveParams::in_switch_threads,
                "Threads of a block of an in-switch collective.", 32U, 1024U),
            field(
                "in_switch_chunk", &CollectiveParams::in_switch_chunk,
                "Largest chunk of an in-switch collective, one head, one channel.", Bytes(1024),
                mebibytes(16)),
            field(
                "in_switch_tree_chunk", &CollectiveParams::in_switch_tree_chunk,
                "The same for four or more machines.", Bytes(1024), mebibytes(16)),
            field(
                "in_switch_copy_round", &CollectiveParams::in_switch_copy_round,
                "In-switch: latency of a round of a copy through local memory, from a warp's 8 "
                "loads of 16 bytes a thread to their stores; in_switch_copy_rate comes on top.",
                Time(0), microseconds(1000)),
            field(
                "in_switch_copy_rate", &CollectiveParams::in_switch_copy_rate,
                "In-switch: rate at which the SM of a thread block moves what its warps copy "
                "through local memory in a round.",
                Bandwidth(1'000'000), gigabytes_per_second(10'000)),
            field(
                "in_switch_sync", &CollectiveParams::in_switch_sync,
                "In-switch: software latency of a hand-over between groups of warps, beyond what "
                "counters and acknowledgements take on the way and simple/slice_overhead: fences, "
                "posts.",
                Time(0), microseconds(1000)),
            field(
                "push_poll", &CollectiveParams::push_poll,
                "Push: latency from the last sum in local memory to the polling thread block.",
                Time(0), microseconds(1000)),
            field(
                "outstanding_loads", &CollectiveParams::outstanding_loads,
                "Limit on bytes that a thread block has requested over a link but not received.",
                Bytes(128), mebibytes(64)),
            field(
                "outstanding_stores", &CollectiveParams::outstanding_stores,
                "Limit on bytes that a thread block has stored but the link has not sent: the "
                "capacity of the path from the SM to the link before stores stall.",
                Bytes(128), mebibytes(64)),
            field(
                "registers_per_thread", &CollectiveParams::registers_per_thread,
                "Registers of the communication kernel.", 1U, 255U),
            field(
                "shared_memory", &CollectiveParams::shared_memory,
                "Shared memory of a block of the communication kernel.", Bytes(0), mebibytes(1)),
            field(
                "proxy_overhead", &CollectiveParams::proxy_overhead,
                "Time of a GPU's proxy thread on the host per outgoing slice (to detect it and "
                "post its transfer) and per incoming slice (to detect it and post the next "
                "receive); slices of all channels queue for the thread.",
                Time(0), microseconds(1000)),
            field(
                "proxy_launch", &CollectiveParams::proxy_launch,
                "Time of a GPU's proxy thread to take up one connection's part in a collective, to "
                "serve its first message, and to end it. A loop of small exchanges cannot run "
                "faster "
                "than this times the connections; of one collective alone the host has handed over "
                "these parts before its kernel begins.",
                Time(0), microseconds(1000)),
            field(
                "tree_cuts_small", &CollectiveParams::tree_cuts_small,
                "Trees with Simple divide a small buffer into chunks below an eighth of "
                "simple_buffer, so that their pipeline fills, as NCCL did before 2.20; false: "
                "chunks of an eighth of simple_buffer, as in NCCL since (enqueue.cc)."),
            field(
                "automatic_in_switch", &CollectiveParams::automatic_in_switch,
                "auto may choose in-switch reduction; false if the machine's software disables "
                "it."),
            field(
                "network_protocol", &CollectiveParams::network_protocol,
                "The only protocol that collectives across machines use; auto: any."),
            field(
                "tuner_network_latency", &CollectiveParams::tuner_network_latency,
                "Latency that the network's plug-in states; the cost model adds it to every hop "
                "between machines.",
                Time(0), microseconds(1000)),
            field(
                "host_processor", &CollectiveParams::host_processor,
                "Maker of the hosts' processors, by which the cost model limits LL across "
                "machines; one that is not AMD counts as intel."),
            field(
                "host_store_rate", &CollectiveParams::host_store_rate,
                "Limit on the rate at which one thread block stores to peers over the host's PCIe, "
                "flags included; 0: block_rate alone.",
                Bandwidth(0), gigabytes_per_second(10'000)),
            field(
                "proxy_copy_rate", &CollectiveParams::proxy_copy_rate,
                "Rate at which a GPU's proxy thread copies slices to and from sockets, besides "
                "proxy_overhead; 0: the network interface moves them by itself.",
                Bandwidth(0), gigabytes_per_second(10'000)),
            field(
                "proxy_scan_rate", &CollectiveParams::proxy_scan_rate,
                "Rate at which a GPU's proxy thread looks through the lines of LL that it is to "
                "send, flags included, besides proxy_overhead: they lie in the host's memory, and "
                "each must have arrived. 0: no time.",
                Bandwidth(0), gigabytes_per_second(10'000)),
            field(
                "byte_sum_rate", &CollectiveParams::byte_sum_rate,
                "Rate at which a thread block adds 8-bit numbers, beyond what adding others of the "
                "same bytes takes; 0: it takes no longer.",
                Bandwidth(0), gigabytes_per_second(10'000)),
            field(
                "ll", &CollectiveParams::ll,
                "Protocol LL: 4 bytes of data and 4 of flag in every 8."),
            field(
                "ll128", &CollectiveParams::ll128,
                "Protocol LL128: 120 bytes of data in every 128."),
            field(
                "simple", &CollectiveParams::simple,
                "Protocol Simple: data in slices, a flag for each."),
            field(
                "experts", &CollectiveParams::experts,
                "Dispatch and combine of mixture-of-experts layers."),
            field("symmetric", &CollectiveParams::symmetric, "Kernels on symmetric memory."),
            field("copy_engine", &CollectiveParams::copy_engine, "Collectives by copy engines."),
            field(
                "peer_copies", &CollectiveParams::peer_copies,
                "Costs of a framework's own copies: algorithms owners, topology_tree and host."));
    }
};

}  // namespace switchfold
