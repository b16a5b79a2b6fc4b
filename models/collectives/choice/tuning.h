// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/policy.h"
#include "models/collectives/parameters.h"
#include "models/collectives/peer_copies/policy.h"
#include "sim/core/params.h"
#include "workloads/graph/execution_graph.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace switchfold {

/// How a collective moves its data.
enum class Algorithm : std::uint8_t {
    kAuto,
    kRing,
    kTree,          ///< a chain inside each machine, two binary trees between machines
    kInSwitch,      ///< NVLS: pull reduction and multicast by the switches of one domain
    kInSwitchTree,  ///< NVLS inside each machine, trees between the machines' heads (NVLS tree)
    kInSwitchRing,  ///< NVLS inside each machine, rings between the machines' heads
    kCollnet,       ///< NVLS inside each machine; the network's switches reduce the machines' sums
    kDirect,        ///< every rank reads or writes all others' memory
    kOwners,        ///< copies to the owner of each array, which adds them and copies the sum back
    kTopologyTree,  ///< copies along trees that minimise the load on the machine's links
    kHost,          ///< copies to the host, which adds them, and back
};

template <>
struct EnumNames<Algorithm> {
    static constexpr std::array<std::pair<Algorithm, std::string_view>, 11> kNames{
        {{Algorithm::kAuto, "auto"},
         {Algorithm::kRing, "ring"},
         {Algorithm::kTree, "tree"},
         {Algorithm::kInSwitch, "in_switch"},
         {Algorithm::kInSwitchTree, "in_switch_tree"},
         {Algorithm::kInSwitchRing, "in_switch_ring"},
         {Algorithm::kCollnet, "collnet"},
         {Algorithm::kDirect, "direct"},
         {Algorithm::kOwners, "owners"},
         {Algorithm::kTopologyTree, "topology_tree"},
         {Algorithm::kHost, "host"}}};
};

/// Whether a framework's own copies move the data, with kernels or host threads that add.
[[nodiscard]] constexpr bool moves_by_copies(Algorithm algorithm) {
    return algorithm == Algorithm::kOwners || algorithm == Algorithm::kTopologyTree ||
           algorithm == Algorithm::kHost;
}

/// Whether switches reduce or replicate the data: the kernel then differs from that of rings and
/// trees.
[[nodiscard]] constexpr bool reduces_in_switch(Algorithm algorithm) {
    return algorithm == Algorithm::kInSwitch || algorithm == Algorithm::kInSwitchTree ||
           algorithm == Algorithm::kInSwitchRing || algorithm == Algorithm::kCollnet;
}

/// Kind of kernels, or engines, that move a collective's data.
enum class Kernels : std::uint8_t {
    kClassic,     ///< thread blocks that pass chunks through FIFOs, or NVLS
    kSymmetric,   ///< few thread blocks on buffers mapped by all ranks (NCCL >= 2.27)
    kCopyEngine,  ///< copy engines, no SMs (NCCL >= 2.28)
};
template <>
struct EnumNames<Kernels> {
    static constexpr std::array<std::pair<Kernels, std::string_view>, 3> kNames{
        {{Kernels::kClassic, "classic"},
         {Kernels::kSymmetric, "symmetric"},
         {Kernels::kCopyEngine, "copy_engine"}}};
};

/// Modes of in-switch reduction. Pull (NVLS): the switch reads every member's memory and returns
/// the sum to the requesting head, which stores it to all. Push (Klenk et al., ISCA 2020): members
/// write to the switch. Command: the switch reads and stores to all on a single command of the head
/// (a study; no such hardware is known).
enum class InSwitchMode : std::uint8_t { kPull, kPush, kCommand };
template <>
struct EnumNames<InSwitchMode> {
    static constexpr std::array<std::pair<InSwitchMode, std::string_view>, 3> kNames{
        {{InSwitchMode::kPull, "pull"},
         {InSwitchMode::kPush, "push"},
         {InSwitchMode::kCommand, "command"}}};
};

/// A scenario's settings for collectives of one kind.
struct CollectivePolicy {
    Algorithm algorithm = Algorithm::kAuto;
    Protocol protocol = Protocol::kAuto;
    std::uint32_t channels = 0;
    bool registered = false;
    InSwitchMode mode = InSwitchMode::kPull;
    Kernels kernels = Kernels::kClassic;
    PeerCopyPolicy copies = {};
    bool operator==(const CollectivePolicy&) const = default;

    static constexpr auto fields() {
        return list_of(
            field(
                "algorithm",
                &CollectivePolicy::algorithm,
                "How they run; auto takes the fastest by NCCL's estimate."),
            field(
                "protocol",
                &CollectivePolicy::protocol,
                "Protocol of ring and tree; auto takes the fastest by estimate."),
            field(
                "channels",
                &CollectivePolicy::channels,
                "Thread blocks of the communication kernel; 0 leaves it to the machine's rules.",
                0U,
                64U),
            field(
                "registered",
                &CollectivePolicy::registered,
                "In-switch: the buffers are registered, so the switch accesses them directly, "
                "without intermediate copies."),
            field(
                "mode",
                &CollectivePolicy::mode,
                "In-switch: pull (the switch reads and adds, as NVLS), push (members' writes are "
                "added as they come) or command (the switch reads, adds and stores to all by "
                "itself)."),
            field(
                "kernels",
                &CollectivePolicy::kernels,
                "What moves the data: classic (NCCL's rings, trees, NVLS), symmetric (few thread "
                "blocks on buffers in windows; algorithm in_switch by multicast or direct from "
                "peer to peer), copy_engine (no thread block; algorithm direct or in_switch)."),
            field(
                "copies",
                &CollectivePolicy::copies,
                "How algorithms owners, topology_tree and host exchange arrays by copies "
                "(docs/exchange.md)."));
    }
};

[[nodiscard]] inline CollectivePolicy ring_policy() {
    return {Algorithm::kRing, Protocol::kAuto, 0, false};
}

/// Properties of the machine that the estimate depends on.
struct MachineView {
    std::uint32_t ranks = 0;
    Bandwidth ring_bandwidth;    ///< payload per second around all rings together
    Bandwidth ring_line_rate;    ///< the same of the lines' raw rate
    bool pcie = false;           ///< ring neighbours communicate over PCIe
    bool over_root = false;      ///< some of them over one root complex
    Bandwidth slot_bandwidth;    ///< over PCIe: raw, of the narrowest link on the way
    Bandwidth socket_bandwidth;  ///< the same of links between roots; zero if none is on the way
    bool one_generation = true;  ///< all GPUs are of one generation
    std::uint32_t machines = 1;
    std::uint32_t per_machine = 0;  ///< members of the largest machine
    Bandwidth inside_bandwidth;     ///< of the parts of the rings inside machines
    Bandwidth rail_bandwidth;  ///< payload per second out of a machine, with every member sending
                               ///< to its counterpart in the next
    std::uint32_t rails = 0;   ///< exits from a machine, each with its own network interfaces
    Bandwidth
        in_switch_bandwidth;  ///< payload per second into a GPU; zero if the switches cannot reduce
    bool network_reduces = false;  ///< the switches of every rail can reduce
    Bandwidth pair_bandwidth;  ///< payload per second between the two neighbours with the slowest
                               ///< connection
};

/// The requested collective.
struct CollectiveCall {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;  ///< as counted by nccl-tests: the larger side for reduce-scatter and all-gather
    Datatype datatype = Datatype::kFloat32;
};
/// Whether NVLS reduces elements of this type (NCCL, transport/nvls.cc ncclNvlsSupported).
[[nodiscard]] bool reducible_in_switch(Datatype type);

struct Choice {
    Algorithm algorithm = Algorithm::kRing;
    Protocol protocol = Protocol::kSimple;
    std::uint32_t channels = 1;  ///< thread blocks of the kernel
    bool registered = false;
    Time estimate;
    InSwitchMode mode = InSwitchMode::kPull;
    Kernels kernels = Kernels::kClassic;
    std::uint32_t for_a_peer = 0;        ///< exchange: channels per peer
    std::uint64_t chunk = 0;             ///< exchange: bytes that a channel hands over at once
    std::uint32_t peers_of_a_block = 1;  ///< exchange: peers that a thread block serves at once
    ExpertsLibrary library = ExpertsLibrary::kAuto;  ///< for a dispatch or combine
    std::uint32_t group_tables = 0;  ///< for an exchange of experts through the switch: number of
                                     ///< groups; 0: the switches' limit
    PeerCopyPolicy copies = {};      ///< for algorithms that move data by copies
    std::uint32_t threads = 0;       ///< of a block; 0: all that the protocol uses
};

/// NCCL reduces the channels of small collectives until every thread has enough work (enqueue.cc;
/// thresholds in comm.h).
[[nodiscard]] std::uint32_t channels_for(
    const CollectiveParams& params,
    Algorithm algorithm,
    Protocol protocol,
    const MachineView& machine,
    Bytes bytes);
/// NCCL then halves the threads of the last block, down to three warps (enqueue.cc, nt). Only of
/// rings by LL, which alone carries so little: trees divide their block between the ways up and
/// down, and measured ones (h100_8g_2n_snellius, sophia_dgxa100_2.22.3_ar_*) grow with their bytes
/// alone.
[[nodiscard]] std::uint32_t threads_for(
    const CollectiveParams& params, const Choice& choice, const MachineView& machine, Bytes bytes);
/// Share of its protocol's threads that a block lacks.
[[nodiscard]] double missing_threads(const CollectiveParams& params, const Choice& choice);
/// Limit on a collective's channels: the machine's; over PCIe also pcie_channels(); across
/// machines, the number found by NCCL's search, which depends on the network interfaces
/// (graph/search.cc ncclTopoDupChannels, graph/connect.cc ncclTopoPostset). Logs agree: 8 with four
/// interfaces of 25 GB/s per machine, 16 with eight of 50 GB/s and with four of 50 GB/s, 2 with
/// one.
[[nodiscard]] std::uint32_t channels_of(const CollectiveParams& params, const MachineView& machine);

/// Chooses algorithm, protocol and channels of a collective that a ring can perform, by NCCL's cost
/// model: the least latency + bytes / bandwidth among everything that the policy allows.
[[nodiscard]] Choice choose_collective(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

[[nodiscard]] const ProtocolParams& params_of(const CollectiveParams& params, Protocol protocol);
/// Bytes stored per byte of data: LL 2/1, LL128 16/15, Simple 1/1.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> wire_ratio(Protocol protocol);

}  // namespace switchfold
