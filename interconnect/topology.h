// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/congestion/parameters.h"
#include "interconnect/hop.h"
#include "interconnect/link_parameters.h"
#include "interconnect/reduction_parameters.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// GPUs are sources and destinations of traffic. Other nodes forward it; a GPU does so only as a
/// relay.
enum class NodeKind : std::uint8_t {
    kGpu,
    kSwitch,  ///< of the GPUs' own links, of the network between machines, or a torus's router
    kNic,
    kPcie,    ///< PCIe switch
    kHost,    ///< root complex: the root of a socket's PCIe
    kMemory,  ///< host memory, which transfers pass through if peers cannot access each other
};

/// Whether nodes of this kind are part of PCIe.
[[nodiscard]] constexpr bool is_pcie(NodeKind kind) {
    return kind == NodeKind::kPcie || kind == NodeKind::kHost || kind == NodeKind::kMemory;
}

struct SwitchParams {
    Time latency = nanoseconds(120);
    bool multicast = false;
    std::optional<std::uint32_t> ports;
    std::optional<ReductionUnitParams> reduction;

    static constexpr auto fields() {
        return list_of(
            field(
                "latency", &SwitchParams::latency,
                "Latency from a packet's head at an input port to its head at an idle output port.",
                Time(0), microseconds(1000)),
            field(
                "multicast", &SwitchParams::multicast,
                "Whether it can replicate a packet to several ports."),
            field(
                "ports", &SwitchParams::ports, "Limit on attached lanes; absent: no limit.", 1U,
                65'536U),
            field(
                "reduction", &SwitchParams::reduction,
                "The reduction unit behind every port; absent if the switch cannot reduce."));
    }
};

/// Machine number of the network's switches, which belong to no machine.
inline constexpr std::uint32_t kNoMachine = UINT32_MAX;

struct TopologyNode {
    NodeKind kind = NodeKind::kGpu;
    std::string name;
    std::uint32_t switch_class = 0;  ///< index into Topology::switches; not for GPUs
    std::uint32_t machine = 0;       ///< index of its computer, from 0
};

/// A cable or a bundle of cables, equal in both directions.
struct TopologyEdge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t lanes = 1;
    std::uint32_t link_class = 0;  ///< index into Topology::links
    bool down = false;             ///< out of service: nothing is routed over it
};

/// The graph of a machine or cluster. GPUs come first: node i is rank i, and the ranks of one
/// computer are consecutive.
struct Topology {
    std::vector<TopologyNode> nodes;
    std::vector<TopologyEdge> edges;
    std::vector<LinkParams> links;
    std::vector<SwitchParams> switches;
    /// Limit on the shortest paths over which a pair of GPUs spreads its traffic.
    std::uint32_t paths_per_pair = 64;
    /// If there are more shortest paths, each pair uses different ones; false: always the first
    /// ones in edge order (in a torus: dimension-ordered).
    bool spread_paths = true;
    /// Whether a GPU linked to two GPUs of its machine may relay between them if no link joins
    /// them.
    bool relays = false;
    /// Whether peers cannot access each other over PCIe: data are written to host memory and read
    /// from there.
    bool through_memory = false;
    /// What the network between machines does about congestion; absent: nothing but credits.
    std::optional<CongestionParams> congestion;

    [[nodiscard]] std::uint32_t gpus() const;
    /// Number of computers, each with its own GPUs and NICs.
    [[nodiscard]] std::uint32_t machines() const;
    [[nodiscard]] std::uint32_t machine_of(std::uint32_t rank) const { return nodes[rank].machine; }
    /// The node at the end of a hop.
    [[nodiscard]] std::uint32_t end_of(std::uint32_t hop) const {
        const TopologyEdge& edge = edges[edge_of(hop)];
        return runs_from_b(hop) ? edge.a : edge.b;
    }
    /// Of a hop, as statistics have it: its ends, and the edge's number, since two nodes may be
    /// joined twice.
    [[nodiscard]] std::string link_name(std::uint32_t hop) const;
    /// Whether some reduction unit keeps sums no wider than their elements.
    [[nodiscard]] bool sums_in_elements() const;
};

/// For each GPU, the NICs of its machine that are nearest by PCIe, in node order; none if the
/// machine has no NIC.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> nearest_nics(const Topology& topology);

/// A repeating order in which index i occurs weights[i] times, evenly distributed: {2,1} -> 0,1,0.
[[nodiscard]] std::vector<std::uint32_t> stripe_order(const std::vector<std::uint32_t>& weights);

}  // namespace switchfold
