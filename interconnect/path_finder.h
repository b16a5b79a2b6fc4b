// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/adjacency.h"
#include "interconnect/relay.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace switchfold {

/// A path from one GPU to another: its hops (hop.h), and the relative amount of the pair's traffic
/// for it.
struct Path {
    std::vector<std::uint32_t> hops;
    std::uint32_t weight = 1;  ///< fewest lanes along the path
};

/// Finds the paths between GPUs, as machines and NCCL choose them:
/// - never through another GPU (except relays), another pair's machine or, inside a machine, a NIC;
/// - inside a machine over the GPUs' own links if they connect the pair, otherwise through a relay
///   if there is one, otherwise over PCIe and the host;
/// - through host memory if peers cannot access each other over PCIe: that of the sender's machine
///   and, between machines, of the receiver's as well.
/// It stores no table of pairs: each query is a breadth-first search from both ends, over the two
/// machines and what of the network lies between them.
class PathFinder {
public:
    explicit PathFinder(const Topology& topology);
    /// At most `limit` shortest paths (0: the topology's limit), which use every node in the middle
    /// nearly equally often, and every NIC of an end equally often, in a fixed order. Empty if
    /// there is none.
    [[nodiscard]] std::vector<Path>
    shortest(std::uint32_t from, std::uint32_t to, std::uint32_t limit = 0);
    /// Over all edges that were not down at construction.
    [[nodiscard]] const Adjacency& neighbours() const { return neighbours_; }

private:
    /// Nodes that a search may pass through.
    struct Rule {
        std::uint32_t machine_a = 0;
        std::uint32_t machine_b = 0;
        bool network = false;
        bool pcie = false;
    };
    [[nodiscard]] bool passes(std::uint32_t node, const Rule& rule) const;
    /// Labels the nodes of shortest paths with their distance to the destination and their ways.
    void search(std::uint32_t from, std::uint32_t to, const Rule& rule);
    /// Labels all nodes from which the node can be reached.
    void search_all(std::uint32_t to, const Rule& rule);
    void forget();
    [[nodiscard]] Path nth(std::uint32_t from, std::uint32_t to, std::uint64_t rank) const;
    struct Nics {
        std::uint64_t out = 1;  ///< of the sender
        std::uint64_t in = 1;   ///< of the receiver
    };
    [[nodiscard]] Nics nics_of(std::uint32_t from, const std::vector<Path>& paths) const;
    /// Paths that take the NICs of both ends in turn, packet by packet: NCCL's channels share them
    /// equally. For NICs with several ways between each two.
    [[nodiscard]] std::vector<Path> by_nics(
        std::uint32_t from, std::uint32_t to, const Nics& nics, std::uint64_t count,
        std::uint64_t seed);
    /// Between the ranks of the paths taken, `count` of `total`.
    [[nodiscard]] std::uint64_t stride_of(std::uint64_t count, std::uint64_t total);
    [[nodiscard]] std::vector<Path> paths(
        std::uint32_t from, std::uint32_t to, const Rule& rule, std::uint32_t limit,
        std::uint64_t seed);
    [[nodiscard]] std::uint32_t nearest_memory(std::uint32_t node, const Rule& rule);
    [[nodiscard]] std::vector<Path> staged(
        const std::vector<std::uint32_t>& stops, const Rule& rule, std::uint32_t limit,
        std::uint64_t seed);

    const Topology& topology_;
    Relays relays_;
    Adjacency neighbours_;
    std::vector<std::uint8_t> ends_;       ///< by node: 1 if paths may only end there (GPUs)
    std::vector<std::uint32_t> distance_;  ///< to the search's destination
    std::vector<std::uint64_t> ways_;      ///< number of shortest paths to it
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> steps_;                 ///< from the search's source
    std::vector<std::vector<std::uint32_t>> reached_;  ///< nodes by steps
    /// By number of paths taken and of all: most pairs of GPUs have the same.
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> strides_;
};

}  // namespace switchfold
