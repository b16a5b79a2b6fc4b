// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::test_data {

/// Runs a graph in which every operation takes a moment. Returns whether all operations of all
/// ranks end.
inline bool ends(const ExecutionGraph& graph) {
    const std::size_t ranks = graph.ranks.size();
    std::vector<std::vector<bool>> done(ranks);
    std::vector<std::vector<std::size_t>> next(ranks);  // per stream, the position in its list
    std::vector<std::vector<std::vector<std::uint32_t>>> streams(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        done[r].resize(graph.ranks[r]->operations.size());
        streams[r].resize(graph.ranks[r]->streams.size());
        next[r].resize(graph.ranks[r]->streams.size());
        for (std::uint32_t i = 0; i < graph.ranks[r]->operations.size(); ++i)
            streams[r][graph.ranks[r]->operations[i].stream].push_back(i);
    }
    // A collective or message waits until all of its participants have arrived.
    std::map<std::string, std::set<std::pair<std::size_t, std::uint32_t>>> come;
    std::size_t left = 0;
    for (const auto& rank : done)
        left += rank.size();
    for (bool moved = true; moved && left > 0;) {
        moved = false;
        for (std::size_t r = 0; r < ranks; ++r) {
            for (std::size_t s = 0; s < streams[r].size(); ++s) {
                if (next[r][s] == streams[r][s].size())
                    continue;
                const std::uint32_t i = streams[r][s][next[r][s]];
                const Operation& operation = graph.ranks[r]->operations[i];
                if (done[r][i]) {
                    ++next[r][s];
                    moved = true;
                    continue;
                }
                if (!std::all_of(
                        operation.dependencies.begin(), operation.dependencies.end(),
                        [&](std::uint32_t d) { return done[r][d]; }))
                    continue;
                std::string key;
                std::size_t wanted = 1;
                if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                    key = "c" + std::to_string(c->group) + "." + std::to_string(c->sequence);
                    wanted = graph.groups[c->group].ranks.size();
                } else if (const auto* send = std::get_if<SendOperation>(&operation.body)) {
                    key = "m" + std::to_string(r) + "." + std::to_string(send->peer) + "." +
                          std::to_string(send->tag);
                    wanted = 2;
                } else if (const auto* got = std::get_if<ReceiveOperation>(&operation.body)) {
                    key = "m" + std::to_string(got->peer) + "." + std::to_string(r) + "." +
                          std::to_string(got->tag);
                    wanted = 2;
                }
                auto& there = come[key];
                const std::size_t before = there.size();
                there.insert({r, i});
                moved = moved || there.size() != before || wanted == 1;
                if (there.size() >= wanted) {
                    for (const auto& [rank, index] : there) {
                        done[rank][index] = true;
                        --left;
                    }
                    come.erase(key);
                    moved = true;
                }
            }
        }
    }
    return left == 0;
}

}  // namespace switchfold::test_data
