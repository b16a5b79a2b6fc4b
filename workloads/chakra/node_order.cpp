// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/node_order.h"

#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <tuple>

namespace switchfold::chakra {

namespace {

/// Goes back from a node that never became free, along what is not free either, until a node comes
/// again.
[[noreturn]] void fail_circle(
    const std::vector<Node>& nodes,
    const std::unordered_map<std::uint64_t, std::size_t>& position,
    const std::vector<std::size_t>& waiting,
    const std::string& file) {
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
        file,
        fmt::format("node {}", nodes[at].id),
        fmt::format(
            "{}{}{} ({}); expected no circle of {} nodes",
            names,
            path.size() > kShown ? "... " : "",
            nodes[at].name,
            nodes[at].id,
            path.size()));
}

}  // namespace

std::vector<std::size_t> order_of(
    const std::vector<Node>& nodes,
    const std::unordered_map<std::uint64_t, std::size_t>& position,
    TraceFileReport& report) {
    std::vector<std::size_t> waiting(nodes.size(), 0);
    std::vector<std::vector<std::size_t>> followers(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const std::uint64_t id : nodes[i].dependencies) {
            const auto found = position.find(id);
            if (found == position.end()) {
                ++report.dropped["dependencies on nodes that are not there"];
                continue;
            }
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
    if (order.size() < nodes.size())
        fail_circle(nodes, position, waiting, report.file);
    return order;
}

}  // namespace switchfold::chakra
