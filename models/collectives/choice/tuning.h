// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/values.h"
#include "models/collectives/choice/algorithm.h"
#include "models/collectives/choice/collective_config.h"
#include "models/collectives/choice/nccl_words.h"
#include "models/collectives/choice/policy_algorithm.h"
#include "models/collectives/parameters.h"
#include "models/collectives/peer_copies/policy.h"
#include "workloads/graph/execution_graph.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace switchfold {

/// A scenario's settings for collectives of one kind.
struct CollectivePolicy {
    PolicyAlgorithm algorithm = Algorithm::kAuto;
    Protocol protocol = Protocol::kAuto;
    std::uint32_t channels = 0;
    bool registered = false;
    InSwitchMode mode = InSwitchMode::kPull;
    Quantisation quantised = {};
    Kernels kernels = Kernels::kClassic;
    PeerCopyPolicy copies = {};
    NcclWords words = {};  ///< of a scenario's nccl_environment
    /// A program's own, in place of what mode says (in_switch/switch_mode.h). No file has it.
    std::shared_ptr<const SwitchMode> own_mode = {};
    bool operator==(const CollectivePolicy&) const = default;

    static constexpr auto fields() {
        return list_of(
            field(
                "algorithm", &CollectivePolicy::algorithm,
                "How they run; auto takes the fastest by NCCL's estimate. {\"program\": FILE}: a "
                "file's "
                "program (docs/programs.md)."),
            field(
                "protocol", &CollectivePolicy::protocol,
                "Protocol of ring and tree; auto takes the fastest by estimate."),
            field(
                "channels", &CollectivePolicy::channels,
                "Thread blocks of the communication kernel; 0 leaves it to the machine's rules.",
                0U, 64U),
            field(
                "registered", &CollectivePolicy::registered,
                "In-switch: the buffers are registered, so the switch accesses them directly, "
                "without intermediate copies."),
            field(
                "mode", &CollectivePolicy::mode,
                "In-switch: pull (the switch reads and adds, as NVLS), push (members' writes are "
                "added as they come) or command (the switch reads, adds and stores to all by "
                "itself)."),
            field(
                "quantised", &CollectivePolicy::quantised,
                "All-reduces with algorithm in_switch: sums of 8-bit numbers (a study)."),
            field(
                "kernels", &CollectivePolicy::kernels,
                "What moves the data: classic (NCCL's rings, trees, NVLS), symmetric (few thread "
                "blocks on buffers in windows; algorithm in_switch by multicast or direct from "
                "peer to peer), copy_engine (no thread block; algorithm direct or in_switch), "
                "stores (a study: the "
                "warps that make a tile store it to a switch, which adds or copies; "
                "reduce-scatters "
                "and all-gathers, algorithm in_switch)."),
            field(
                "copies", &CollectivePolicy::copies,
                "How algorithms owners, topology_tree and host exchange arrays by copies "
                "(docs/collectives.md#copies-of-a-framework)."));
    }
};

[[nodiscard]] inline CollectivePolicy ring_policy() {
    return {Algorithm::kRing, Protocol::kAuto, 0, false};
}
/// The policy with classic kernels, for collectives that the requested ones cannot run.
[[nodiscard]] CollectivePolicy with_classic_kernels(CollectivePolicy policy);

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

struct ExpertsCall;

/// The requested collective.
struct CollectiveCall {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;  ///< as counted by nccl-tests: the larger side for reduce-scatter and all-gather
    Datatype datatype = Datatype::kFloat32;
    bool even = true;                      ///< of an all-to-all: all parts are equally long
    const ExpertsCall* experts = nullptr;  ///< of a dispatch or combine
};
/// Whether NVLS reduces elements of this type (NCCL, transport/nvls.cc ncclNvlsSupported).
[[nodiscard]] bool reducible_in_switch(Datatype type);
/// What switches are told of such numbers that become 8-bit ones; none if they cannot.
[[nodiscard]] std::optional<OperandFormat> narrowed(Datatype type, const Quantisation& quantised);

/// NCCL reduces the channels of small collectives until every thread has enough work (enqueue.cc;
/// thresholds in comm.h).
[[nodiscard]] std::uint32_t channels_for(
    const CollectiveParams& params, Algorithm algorithm, Protocol protocol,
    const MachineView& machine, Bytes bytes);
/// NCCL then halves the threads of the last block, down to three warps (enqueue.cc, nt). Only of
/// rings by LL, which alone carries so little: trees divide their block between the ways up and
/// down, and measured ones (h100_8g_2n_snellius, sophia_dgxa100_2.22.3_ar_*) grow with their bytes
/// alone.
[[nodiscard]] std::uint32_t threads_for(
    const CollectiveParams& params, const CollectiveConfig& choice, const MachineView& machine,
    Bytes bytes);
/// Share of its protocol's threads that a block lacks.
[[nodiscard]] double
missing_threads(const CollectiveParams& params, const CollectiveConfig& choice);
/// Limit on a collective's channels: the machine's; over PCIe also pcie_channels(); across
/// machines, the number found by NCCL's search, which depends on the network interfaces
/// (graph/search.cc ncclTopoDupChannels, graph/connect.cc ncclTopoPostset). Logs agree: 8 with four
/// interfaces of 25 GB/s per machine, 16 with eight of 50 GB/s and with four of 50 GB/s, 2 with
/// one.
[[nodiscard]] std::uint32_t channels_of(const CollectiveParams& params, const MachineView& machine);

/// Chooses algorithm, protocol and channels of a collective that a ring can perform, by NCCL's cost
/// model: the least latency + bytes / bandwidth among everything that the policy allows.
[[nodiscard]] CollectiveConfig choose_collective(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call);

[[nodiscard]] const ProtocolParams& params_of(const CollectiveParams& params, Protocol protocol);
/// Bytes stored per byte of data: LL 2/1, LL128 16/15, Simple 1/1.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> wire_ratio(Protocol protocol);

}  // namespace switchfold
