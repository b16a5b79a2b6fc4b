// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/adjacency.h"
#include "interconnect/relay.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One way from a GPU to another: its hops (hop.h), and how much of the pair's traffic should take
/// it.
struct Path {
    std::vector<std::uint32_t> hops;
    std::uint32_t weight = 1;  ///< fewest lanes on the way
};

/// Finds the ways between GPUs, as machines and NCCL choose them:
/// - never through another GPU, but for relays, another pair's machine, or, inside a machine, a
/// NIC;
/// - inside a machine over the GPUs' own links if these lead there, else through a relay if there
/// is
///   one, else over PCIe and the host;
/// - where peers cannot reach each other over PCIe, through host memory: of the sender's machine,
///   between machines also of the receiver's.
/// It keeps no table of pairs: each question is a breadth-first search over the two machines and
/// the network.
class PathFinder {
public:
    explicit PathFinder(const Topology& topology);
    /// Shortest paths, at most `limit` of them (0: what the topology says), evenly spread over all
    /// that there are, in a fixed order. Empty if there is none.
    [[nodiscard]] std::vector<Path>
    shortest(std::uint32_t from, std::uint32_t to, std::uint32_t limit = 0);

private:
    /// Which nodes a search may pass.
    struct Rule {
        std::uint32_t machine_a = 0;
        std::uint32_t machine_b = 0;
        bool network = false;
        bool pcie = false;
    };
    [[nodiscard]] bool passes(std::uint32_t node, const Rule& rule) const;
    void search(std::uint32_t from, std::uint32_t to, const Rule& rule);
    void forget();
    [[nodiscard]] Path nth(std::uint32_t from, std::uint32_t to, std::uint64_t rank) const;
    [[nodiscard]] std::vector<Path> paths(
        std::uint32_t from,
        std::uint32_t to,
        const Rule& rule,
        std::uint32_t limit,
        std::uint64_t seed);
    [[nodiscard]] std::uint32_t nearest_memory(std::uint32_t node, const Rule& rule);
    [[nodiscard]] std::vector<Path> staged(
        const std::vector<std::uint32_t>& stops,
        const Rule& rule,
        std::uint32_t limit,
        std::uint64_t seed);

    const Topology& topology_;
    Relays relays_;
    Adjacency neighbours_;
    std::vector<std::uint8_t> ends_;       ///< by node: 1 where paths end only, a GPU
    std::vector<std::uint32_t> distance_;  ///< to the destination of the search
    std::vector<std::uint64_t> ways_;      ///< shortest paths to it
    std::vector<std::uint32_t> touched_;
};

}  // namespace switchfold
