// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

/// Maximum flow in a graph (Dinic's algorithm). Edges have equal capacity in both directions.
class MaxFlow {
public:
    explicit MaxFlow(std::uint32_t nodes) : first_(nodes, kNone) {}
    void add_edge(std::uint32_t a, std::uint32_t b, std::uint64_t capacity);
    /// Can be called again with other terminals; each call starts without flow.
    [[nodiscard]] std::uint64_t
    run(const std::vector<std::uint32_t>& sources, const std::vector<std::uint32_t>& sinks);

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Arc {
        std::uint32_t to;
        std::uint32_t next;  ///< next arc of the same node
        std::uint64_t capacity;
        std::uint64_t left;
    };
    bool label(const std::vector<std::uint32_t>& sources);
    std::uint64_t push(std::uint32_t node, std::uint64_t most);

    std::vector<std::uint32_t> first_;
    std::vector<Arc> arcs_;  ///< the two directions of an edge are adjacent
    std::vector<std::uint32_t> level_;
    std::vector<std::uint32_t> at_;
    std::vector<bool> sink_;
};

}  // namespace switchfold
