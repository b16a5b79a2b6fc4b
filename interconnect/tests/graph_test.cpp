// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/params_reader.h"
#include "interconnect/path_finder.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace switchfold::graph_test {
namespace {

struct Holder {
    TopologyParams topology;
    static constexpr auto fields() {
        return list_of(field("topology", &Holder::topology, "It.").required());
    }
};

Json good() {
    return Json::parse(R"({
      "type": "graph",
      "nodes": [
        {"name": "left", "kind": "gpu"}, {"name": "right", "kind": "gpu"},
        {"name": "middle", "kind": "switch", "type": "small"}
      ],
      "edges": [
        {"a": "left", "b": "middle", "lanes": 2, "type": "wire"},
        {"a": "middle", "b": "right", "lanes": 2, "type": "wire"}
      ],
      "links": {"wire": {"lane_bandwidth": "25 GB/s"}},
      "switches": {"small": {"ports": 4}}
    })");
}

std::vector<std::pair<std::string, std::string>> problems(const Json& topology) {
    std::vector<std::pair<std::string, std::string>> found;
    try {
        (void)read_params<Holder>({{"topology", topology}}, "machine.json");
    } catch (const ConfigError& error) {
        for (const Problem& problem : error.problems()) {
            EXPECT_EQ(problem.file, "machine.json");
            found.emplace_back(problem.pointer, problem.message);
        }
    }
    return found;
}

void expect_refused(const Json& topology, const std::string& pointer, const std::string& says) {
    const auto found = problems(topology);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].first, "/topology" + pointer);
    EXPECT_NE(found[0].second.find(says), std::string::npos) << found[0].second;
}

TEST(Graph, BuildsWhatIsWritten) {
    const auto holder = read_params<Holder>({{"topology", good()}}, "machine.json");
    const Topology t = build_topology(holder.topology);
    EXPECT_EQ(t.gpus(), 2U);
    EXPECT_EQ(t.nodes[2].name, "middle");
    PathFinder finder(t);
    const auto paths = finder.shortest(0, 1);
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_EQ(paths[0].weight, 2U);
}

TEST(Graph, GpusComeFirstWhateverTheOrder) {
    Json json = good();
    std::swap(json["nodes"][0], json["nodes"][2]);
    const auto holder = read_params<Holder>({{"topology", json}}, "machine.json");
    const Topology t = build_topology(holder.topology);
    EXPECT_EQ(t.nodes[0].name, "right");
    EXPECT_EQ(t.nodes[2].kind, NodeKind::kSwitch);
}

TEST(Graph, RefusesAGpuWithoutAPath) {
    Json json = good();
    json["nodes"].push_back({{"name", "lonely"}, {"kind", "gpu"}});
    expect_refused(json, "/nodes/3", "GPU lonely has no path to left");
    // Now it is joined to a GPU, but GPUs do not forward.
    json["edges"].push_back({{"a", "lonely"}, {"b", "left"}, {"type", "wire"}});
    expect_refused(json, "/nodes/3", "GPU lonely has no path to right");
}

TEST(Graph, RefusesTwoNodesWithOneName) {
    Json json = good();
    json["nodes"].push_back({{"name", "middle"}, {"kind", "switch"}, {"type", "small"}});
    expect_refused(json, "/nodes/3/name", "is the name of /nodes/2 too");
    json["nodes"][3]["name"] = "a.b";
    expect_refused(json, "/nodes/3/name", "letters, digits and underscores");
}

TEST(Graph, RefusesMoreLinksThanPorts) {
    Json json = good();
    json["edges"][0]["lanes"] = 3;
    expect_refused(json, "/switches/small/ports", "5 lanes are joined to middle");
}

TEST(Graph, RefusesLinksThatDifferBetweenTheirDirections) {
    Json json = good();
    json["edges"].push_back({{"a", "middle"}, {"b", "left"}, {"lanes", 1}, {"type", "wire"}});
    expect_refused(json, "/edges/2", "differs from /edges/0, the way back");
    json["edges"][2] = {{"a", "left"}, {"b", "middle"}, {"lanes", 2}, {"type", "wire"}};
    expect_refused(json, "/edges/2", "joins what /edges/0 joins already");
}

TEST(Graph, RefusesNamesOfNothing) {
    Json json = good();
    json["edges"][0]["a"] = "nobody";
    json["edges"][1]["type"] = "string";
    json["nodes"][2]["type"] = "huge";
    const auto found = problems(json);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].first, "/topology/nodes/2/type");
    EXPECT_EQ(found[1].first, "/topology/edges/0/a");
    EXPECT_EQ(found[2].first, "/topology/edges/1/type");
}

TEST(Graph, MachinesJoinOverNicsAndTheNetwork) {
    const Json json = Json::parse(R"({
      "type": "graph",
      "nodes": [
        {"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu", "machine": 1},
        {"name": "nic_a", "kind": "nic", "type": "nic"},
        {"name": "nic_b", "kind": "nic", "type": "nic", "machine": 1},
        {"name": "net", "kind": "switch", "type": "net"}
      ],
      "edges": [
        {"a": "a", "b": "nic_a", "type": "pcie"}, {"a": "nic_a", "b": "net", "type": "ib"},
        {"a": "b", "b": "nic_b", "type": "pcie"}, {"a": "nic_b", "b": "net", "type": "ib"}
      ],
      "links": {"pcie": {}, "ib": {}},
      "switches": {"nic": {}, "net": {}}
    })");
    const auto holder = read_params<Holder>({{"topology", json}}, "machine.json");
    const Topology t = build_topology(holder.topology);
    EXPECT_EQ(t.machines(), 2U);
    PathFinder finder(t);
    EXPECT_EQ(finder.shortest(0, 1).front().hops.size(), 4U);
    EXPECT_EQ(nearest_nics(t)[1], std::vector<std::uint32_t>{3});
}

void expect_same(const Topology& made, const Topology& wanted) {
    ASSERT_EQ(made.nodes.size(), wanted.nodes.size());
    for (std::size_t i = 0; i < made.nodes.size(); ++i) {
        EXPECT_EQ(made.nodes[i].name, wanted.nodes[i].name);
        EXPECT_EQ(made.nodes[i].kind, wanted.nodes[i].kind);
        EXPECT_EQ(made.nodes[i].machine, wanted.nodes[i].machine);
        if (made.nodes[i].kind == NodeKind::kGpu)
            continue;
        EXPECT_EQ(
            made.switches[made.nodes[i].switch_class].latency,
            wanted.switches[wanted.nodes[i].switch_class].latency);
    }
    ASSERT_EQ(made.edges.size(), wanted.edges.size());
    for (std::size_t i = 0; i < made.edges.size(); ++i) {
        EXPECT_EQ(made.edges[i].a, wanted.edges[i].a);
        EXPECT_EQ(made.edges[i].b, wanted.edges[i].b);
        EXPECT_EQ(made.edges[i].lanes, wanted.edges[i].lanes);
        EXPECT_EQ(
            made.links[made.edges[i].link_class].lane_bandwidth,
            wanted.links[wanted.edges[i].link_class].lane_bandwidth);
    }
    EXPECT_EQ(made.through_memory, wanted.through_memory);
}

TEST(GraphOf, BuildsTheSameMachine) {
    for (
        const char* text :
        {R"({"type": "switched", "gpus": 8, "lanes_to_switch": [5, 4, 4, 5], "switch": {}, "link": {"lane_bandwidth": "7 GB/s"}})",
         R"({"type": "pcie", "gpus": 4, "roots": 2, "root": {}, "root_link": {}, "gpu_link": {"lane_bandwidth": "3 GB/s"}})",
         R"({"type": "cluster", "nodes": 2,
              "node": {"type": "switched", "gpus": 4, "lanes_to_switch": [2, 2], "link": {}, "switch": {}},
              "nics": {"count": 4, "link": {"lane_bandwidth": "5 GB/s"}, "gpu_link": {}, "nic": {}},
              "network": {"type": "switch", "switch": {}, "link": {"lane_bandwidth": "11 GB/s"}}})"}) {
        const auto holder = read_params<Holder>({{"topology", Json::parse(text)}}, "machine.json");
        const Topology topology = build_topology(holder.topology);
        const GraphTopology graph = graph_of(topology);
        ParamChecker checker;
        graph.check(checker);
        EXPECT_TRUE(checker.found().empty()) << text;
        expect_same(graph.build(), topology);
    }
}

TEST(GraphOf, RefusesWhatAGraphCannotSay) {
    SwitchedTopology star;
    star.lanes_to_switch = {1};
    const auto refused = [&](auto change) {
        Topology topology = star.build();
        static_cast<void>(graph_of(topology));
        change(topology);
        EXPECT_THROW(static_cast<void>(graph_of(topology)), std::invalid_argument);
    };
    refused([](Topology& t) { t.relays = true; });
    refused([](Topology& t) { t.spread_paths = false; });
    refused([](Topology& t) { t.through_memory = true; });
    refused([](Topology& t) { t.edges[0].down = true; });
    refused([](Topology& t) { t.edges.push_back(t.edges[0]); });
    refused([](Topology& t) { t.nodes.back().machine = kNoMachine; });
}

}  // namespace
}  // namespace switchfold::graph_test
