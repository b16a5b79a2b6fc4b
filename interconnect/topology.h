// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/link_parameters.h"
#include "interconnect/reduction_unit.h"
#include "sim/core/units.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold {

/// Only endpoints start and end traffic; only the others forward it.
enum class NodeKind : std::uint8_t { kGpu, kSwitch, kNic, kHost };

struct SwitchParams {
    Time latency = nanoseconds(120);
    bool multicast = false;
    std::optional<ReductionUnitParams> reduction;

    static constexpr auto fields() {
        return std::tuple{
            field(
                "latency",
                &SwitchParams::latency,
                "Head in at an input port to head out at an idle output port.",
                Time(0),
                microseconds(1000)),
            field("multicast", &SwitchParams::multicast, "Can copy a packet to several ports."),
            field(
                "reduction",
                &SwitchParams::reduction,
                "The reduction unit behind every port; absent where the switch cannot reduce.")};
    }
};

struct TopologyNode {
    NodeKind kind = NodeKind::kGpu;
    std::string name;
    std::uint32_t switch_class = 0;  ///< index into Topology::switches; not for GPUs
};

/// A cable or a bundle of them: both directions, the same both ways.
struct TopologyEdge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t lanes = 1;
    std::uint32_t link_class = 0;  ///< index into Topology::links
};

/// The machine's graph. GPUs come first: node i is rank i.
struct Topology {
    std::vector<TopologyNode> nodes;
    std::vector<TopologyEdge> edges;
    std::vector<LinkParams> links;
    std::vector<SwitchParams> switches;

    [[nodiscard]] std::uint32_t gpus() const;
};

/// One way from a GPU to another: (edge, direction) hops, and how much of the pair's traffic should
/// take it.
struct Path {
    /// 2 * edge, + 1 when it runs from b to a.
    std::vector<std::uint32_t> hops;
    std::uint32_t weight = 1;  ///< fewest lanes on the way
};

/// All shortest paths between two GPUs that lead through no other GPU, at most `limit` of them, in
/// a fixed order. Empty if there is none.
class PathFinder {
public:
    explicit PathFinder(const Topology& topology);
    [[nodiscard]] std::vector<Path>
    shortest(std::uint32_t from, std::uint32_t to, std::size_t limit = 64);

private:
    struct Neighbour {
        std::uint32_t node;
        std::uint32_t hop;
    };
    const Topology& topology_;
    std::vector<std::vector<Neighbour>> neighbours_;
    std::vector<std::uint32_t> distance_;
    std::vector<std::uint32_t> touched_;
};

/// Switches that are joined to all of these GPUs.
[[nodiscard]] std::vector<std::uint32_t>
common_switches(const Topology& topology, std::span<const std::uint32_t> ranks);
/// Why the switches cannot reduce or multicast over these ranks; empty if they can.
[[nodiscard]] std::string
why_no_reduction(const Topology& topology, std::span<const std::uint32_t> ranks);

/// A repeating order in which index i comes up weights[i] times, spread evenly: {2,1} -> 0,1,0.
[[nodiscard]] std::vector<std::uint32_t> stripe_order(const std::vector<std::uint32_t>& weights);

/// Rings over `ranks` such that neighbours are joined by a direct edge and no lane is used twice:
/// as many as are found, each as an order of ranks. Where GPUs hang on switches every order is as
/// good, and one ring of the given order comes back. Empty if direct edges allow no ring.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
