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
#include <tuple>
#include <utility>

namespace switchfold {

/// How an all-reduce moves its data.
enum class Algorithm : std::uint8_t {
    kAuto,
    kRing,
    kTree,          ///< a chain inside each machine, two binary trees across machines
    kInSwitch,      ///< NVLS: pull reduction and multicast by the switches of one domain
    kInSwitchTree,  ///< NVLS inside each machine, trees over the machines' heads (NVLS tree)
    kInSwitchRing,  ///< NVLS inside each machine, rings over the machines' heads
    kCollnet,       ///< NVLS inside each machine, the network's switches add the machines' sums
    kDirect,        ///< every rank reads or writes every other's memory
    kOwners,        ///< copies to the owner of each array, which adds, and back
    kTopologyTree,  ///< copies along trees that load the machine's links least
    kHost,          ///< copies to the host, which adds, and back
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

/// Whether a framework's own copies move it, with kernels or host threads that add.
[[nodiscard]] constexpr bool moves_by_copies(Algorithm algorithm) {
    return algorithm == Algorithm::kOwners || algorithm == Algorithm::kTopologyTree ||
           algorithm == Algorithm::kHost;
}

/// Whether switches add or copy what it moves: its kernel is not that of rings and trees.
[[nodiscard]] constexpr bool reduces_in_switch(Algorithm algorithm) {
    return algorithm == Algorithm::kInSwitch || algorithm == Algorithm::kInSwitchTree ||
           algorithm == Algorithm::kInSwitchRing || algorithm == Algorithm::kCollnet;
}

/// Who moves a collective's data.
enum class Kernels : std::uint8_t {
    kClassic,     ///< thread blocks that pass chunks on through FIFOs, or NVLS
    kSymmetric,   ///< few thread blocks on buffers that all ranks have mapped (NCCL >= 2.27)
    kCopyEngine,  ///< copy engines, no SM (NCCL >= 2.28)
};
template <>
struct EnumNames<Kernels> {
    static constexpr std::array<std::pair<Kernels, std::string_view>, 3> kNames{
        {{Kernels::kClassic, "classic"},
         {Kernels::kSymmetric, "symmetric"},
         {Kernels::kCopyEngine, "copy_engine"}}};
};

/// How an in-switch reduction goes: the switch reads every member's memory and returns the sum to
/// the head that asked, which stores it to all (NVLS); members write to the switch (Klenk et al.,
/// ISCA 2020); or the switch reads and stores to all by itself, on a command of the head (a study:
/// no such hardware is known).
enum class InSwitchMode : std::uint8_t { kPull, kPush, kCommand };
template <>
struct EnumNames<InSwitchMode> {
    static constexpr std::array<std::pair<InSwitchMode, std::string_view>, 3> kNames{
        {{InSwitchMode::kPull, "pull"},
         {InSwitchMode::kPush, "push"},
         {InSwitchMode::kCommand, "command"}}};
};

/// What a scenario says about collectives of one kind.
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
        return std::tuple{
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
                "In-switch: the buffers are registered, so the switch works on them without copies "
                "in between."),
            field(
                "mode",
                &CollectivePolicy::mode,
                "In-switch: pull (the switch reads and adds, as NVLS), push (members' writes are "
                "added as they come) or command (the switch reads, adds and stores to all by "
                "itself)."),
            field(
                "kernels",
                &CollectivePolicy::kernels,
                "Who moves the data: classic (NCCL's rings, trees, NVLS), symmetric (few thread "
                "blocks on buffers in windows; algorithm in_switch by multicast or direct from "
                "peer to peer), copy_engine (no thread block; algorithm direct or in_switch)."),
            field(
                "copies",
                &CollectivePolicy::copies,
                "How algorithms owners, topology_tree and host exchange arrays by copies "
                "(docs/exchange.md).")};
    }
};

[[nodiscard]] inline CollectivePolicy ring_policy() {
    return {Algorithm::kRing, Protocol::kAuto, 0, false};
}

/// What the estimate needs to know of the machine.
struct MachineView {
    std::uint32_t ranks = 0;
    Bandwidth ring_bandwidth;  ///< payload a second that goes round all rings together
    bool pcie = false;         ///< ring neighbours reach each other over PCIe
    bool one_generation = true;  ///< of GPUs
    std::uint32_t machines = 1;
    std::uint32_t per_machine = 0;  ///< members of the largest machine
    Bandwidth inside_bandwidth;     ///< of the part of the rings that lies inside machines
    Bandwidth rail_bandwidth;  ///< payload a second out of a machine, every member to its like in
                               ///< the next
    std::uint32_t rails = 0;   ///< ways out of a machine, each with network interfaces of its own
    Bandwidth
        in_switch_bandwidth;  ///< payload a second into a GPU; zero where the switch cannot reduce
    bool network_reduces = false;  ///< every rail's switches do
    Bandwidth pair_bandwidth;      ///< payload a second between the two neighbours least joined
};

/// What is asked for.
struct CollectiveCall {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;  ///< as nccl-tests counts them: of reduce-scatter and all-gather the larger side
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
    std::uint32_t for_a_peer = 0;  ///< of an exchange: channels that serve one peer
    std::uint64_t chunk = 0;       ///< of an exchange: bytes that a channel hands over at once
    std::uint32_t peers_of_a_block = 1;  ///< of an exchange: that a thread block serves at once
    ExpertsLibrary library = ExpertsLibrary::kAuto;  ///< of a dispatch or combine
    std::uint32_t group_tables = 0;                  ///< of one in the switch; 0: theirs
    PeerCopyPolicy copies = {};                      ///< of one by copies
};

/// NCCL shrinks the channels of small collectives until every thread has some work (enqueue.cc;
/// comm.h thresholds).
[[nodiscard]] std::uint32_t channels_for(
    const CollectiveParams& params,
    Algorithm algorithm,
    Protocol protocol,
    const MachineView& machine,
    Bytes bytes);
/// The most channels of a collective: those of the machine, or across machines those that NCCL's
/// search finds, which go by the network interfaces (graph/search.cc ncclTopoDupChannels,
/// graph/connect.cc ncclTopoPostset). Logs agree: 8 with four interfaces of 25 GB/s a machine, 16
/// with eight of 50 GB/s and with four of 50 GB/s, 2 with a single one.
[[nodiscard]] std::uint32_t channels_of(const CollectiveParams& params, const MachineView& machine);

/// Chooses algorithm, protocol and channels of a collective that a ring can do: the least of
/// latency
/// + bytes / bandwidth over what the policy allows, by NCCL's cost model.
[[nodiscard]] Choice choose_collective(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

[[nodiscard]] const ProtocolParams& params_of(const CollectiveParams& params, Protocol protocol);
/// Bytes stored for every byte of data: LL 2/1, LL128 16/15, Simple 1/1.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> wire_ratio(Protocol protocol);

}  // namespace switchfold
