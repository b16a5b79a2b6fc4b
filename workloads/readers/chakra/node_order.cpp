// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/node_order.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <string>
#include <tuple>

namespace switchfold::chakra {

namespace {

/// Throws with the names of a cycle: starts at a node that never became free and follows
/// dependencies that are not free either, until a node repeats.
[[noreturn]] void fail_circle(
    const std::vector<Node>& nodes, const std::unordered_map<std::uint64_t, std::size_t>& position,
    const std::vector<std::size_t>& waiting, const std::string& file) {
    const auto stuck = [&](std::size_t i) { return waiting[i] > 0; };
    std::size_t at = 0;
    while (!stuck(at))
        ++at;
    std::vector<std::size_t> path;
    std::vector<bool> seen(nodes.size(), false);
    while (!seen[at]) {
        seen[at] = true;
        path.push_back(at);
        for (const std::uint64_t id : nodes[at].dependencies) {
            const auto found = position.find(id);
            if (found != position.end() && stuck(found->second)) {
                at = found->second;
                break;
            }
        }
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), at));
    constexpr std::size_t kShown = 8;
    std::string names;
    for (std::size_t i = 0; i < std::min(path.size(), kShown); ++i)
        names += fmt::format("{} ({}) waits for ", nodes[path[i]].name, nodes[path[i]].id);
    throw ConfigError(
        file, fmt::format("node {}", nodes[at].id),
        fmt::format(
            "{}{}{} ({}); expected no cycle of {} nodes", names, path.size() > kShown ? "... " : "",
            nodes[at].name, nodes[at].id, path.size()));
}

/// The nodes outside cycles, in topological order. `waiting` counts each node's open dependencies.
std::vector<std::size_t> sorted(
    const std::vector<Node>& nodes, const std::unordered_map<std::uint64_t, std::size_t>& position,
    std::vector<std::size_t>& waiting) {
    waiting.assign(nodes.size(), 0);
    std::vector<std::vector<std::size_t>> followers(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const std::uint64_t id : nodes[i].dependencies)
            if (const auto found = position.find(id); found != position.end()) {
                followers[found->second].push_back(i);
                ++waiting[i];
            }
    using Next = std::tuple<std::uint64_t, std::uint64_t, std::size_t>;  // start, id, index
    std::priority_queue<Next, std::vector<Next>, std::greater<>> free;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (waiting[i] == 0)
            free.emplace(nodes[i].start_us, nodes[i].id, i);
    std::vector<std::size_t> order;
    while (!free.empty()) {
        const std::size_t i = std::get<2>(free.top());
        free.pop();
        order.push_back(i);
        for (const std::size_t follower : followers[i])
            if (--waiting[follower] == 0)
                free.emplace(nodes[follower].start_us, nodes[follower].id, follower);
    }
    return order;
}

/// Total length of all nodes' lists.
std::size_t count(const std::vector<Node>& nodes, std::vector<std::uint64_t> Node::*list) {
    std::size_t sum = 0;
    for (const Node& node : nodes)
        sum += (node.*list).size();
    return sum;
}

void count_missing(
    const std::vector<Node>& nodes, const std::unordered_map<std::uint64_t, std::size_t>& position,
    TraceFileReport& report) {
    for (const Node& node : nodes)
        for (const std::uint64_t id : node.dependencies)
            if (!position.contains(id))
                ++report.dropped["dependencies on nodes that are not there"];
}

}  // namespace

std::vector<std::size_t> order_of(
    std::vector<Node>& nodes, const std::unordered_map<std::uint64_t, std::size_t>& position,
    TraceFileReport& report) {
    std::vector<std::size_t> waiting;
    const std::size_t controls = count(nodes, &Node::controls);
    const bool data = controls > 0 && count(nodes, &Node::dependencies) > 0;
    std::vector<std::size_t> by_data;
    if (data)
        by_data = sorted(nodes, position, waiting);
    std::vector<std::size_t> data_counts;
    for (Node& node : nodes) {
        data_counts.push_back(node.dependencies.size());
        node.dependencies.insert(
            node.dependencies.end(), node.controls.begin(), node.controls.end());
    }
    std::vector<std::size_t> order = sorted(nodes, position, waiting);
    if (order.size() < nodes.size()) {
        if (by_data.size() < nodes.size())
            fail_circle(nodes, position, waiting, report.file);
        for (std::size_t i = 0; i < nodes.size(); ++i)
            nodes[i].dependencies.resize(data_counts[i]);
        report.mended["control dependencies left out"] = controls;
        report.warnings.push_back(fmt::format(
            "{} control dependencies form cycles, so they number nodes otherwise than the file: "
            "the data dependencies alone order it",
            controls));
        order = std::move(by_data);
    }
    count_missing(nodes, position, report);
    return order;
}

}  // namespace switchfold::chakra
