// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topology.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<NodeKind> {
    static constexpr std::array<std::pair<NodeKind, std::string_view>, 6> kNames{
        {{NodeKind::kGpu, "gpu"},
         {NodeKind::kSwitch, "switch"},
         {NodeKind::kNic, "nic"},
         {NodeKind::kPcie, "pcie"},
         {NodeKind::kHost, "host"},
         {NodeKind::kMemory, "memory"}}};
};

struct GraphNode {
    std::string name;
    NodeKind kind = NodeKind::kGpu;
    std::optional<std::string> type;
    std::optional<std::uint32_t> machine;

    static constexpr auto fields() {
        return list_of(
            field("name", &GraphNode::name, "Its name; GPUs become ranks in the order given.")
                .required(),
            field("kind", &GraphNode::kind, "Kind of the node.").required(),
            field("type", &GraphNode::type, "Its entry in `switches`; not for GPUs."),
            field(
                "machine", &GraphNode::machine,
                "Index of its machine, from 0. Absent: switches belong to the network if there are "
                "several machines; all other nodes, and switches of a single machine, belong to "
                "machine 0.",
                0U, 65'535U));
    }
};

struct GraphLink {
    std::string a;
    std::string b;
    std::uint32_t lanes = 1;
    std::string type;

    static constexpr auto fields() {
        return list_of(
            field("a", &GraphLink::a, "One end's name.").required(),
            field("b", &GraphLink::b, "The other end's; a link always carries both directions.")
                .required(),
            field("lanes", &GraphLink::lanes, "Lanes, equal in both directions.", 1U, 4096U),
            field("type", &GraphLink::type, "Its entry in `links`.").required());
    }
};

/// An arbitrary machine: named nodes and the links between them.
struct GraphTopology {
    static constexpr std::string_view kType = "graph";
    std::vector<GraphNode> nodes;
    std::vector<GraphLink> edges;
    std::map<std::string, LinkParams> links;
    std::map<std::string, SwitchParams> switches;
    std::optional<CongestionParams> congestion;

    static constexpr auto fields() {
        return list_of(
            field("nodes", &GraphTopology::nodes, "GPUs, switches, NICs, hosts.").required(),
            field("edges", &GraphTopology::edges, "Links between the nodes.").required(),
            field("links", &GraphTopology::links, "Kinds of links, by name.").required(),
            field("switches", &GraphTopology::switches, "Kinds of nodes other than GPUs, by name."),
            field(
                "congestion", &GraphTopology::congestion,
                "What the network between machines does about congestion. Absent: static routes "
                "and credits, no rates, no loss."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;

private:
    void check_nodes(ParamChecker& checker) const;
    void check_edges(ParamChecker& checker) const;
};

/// The graph that builds the same machine: how a program's own family gets into an experiment.
/// Throws std::invalid_argument for what a graph cannot say: relays, its own limits on paths, links
/// out of service, several links between two nodes, a network that joins a single machine.
[[nodiscard]] GraphTopology graph_of(const Topology& topology);

}  // namespace switchfold
