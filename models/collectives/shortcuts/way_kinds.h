// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/path_finder.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace switchfold {

/// Which hops of a topology, and which ways between GPUs, are of one kind: hops over links of one
/// class and as many lanes between nodes of the same kinds (node_kinds.h), ways over such hops.
class WayKinds {
public:
    explicit WayKinds(const Topology& topology);

    [[nodiscard]] std::uint32_t of_node(std::uint32_t node) const { return kinds_[node]; }
    [[nodiscard]] std::uint32_t of_hop(std::uint32_t hop) const { return kind_of_hop_[hop]; }
    /// How many hops there are of each kind.
    [[nodiscard]] const std::vector<std::uint32_t>& hops() const { return hops_; }
    [[nodiscard]] const std::vector<std::uint32_t>& nodes() const { return nodes_; }
    [[nodiscard]] std::vector<Path> between(std::uint32_t from, std::uint32_t to) {
        return finder_.shortest(from, to);
    }
    /// A number, from 1 on, equal for ways that go over the same kinds of hops.
    [[nodiscard]] std::uint32_t of(const std::vector<Path>& ways);

private:
    /// By way, sorted: its hops' kinds, and its weight.
    using Profile = std::vector<std::pair<std::vector<std::uint32_t>, std::uint32_t>>;

    PathFinder finder_;
    std::vector<std::uint32_t> kinds_;
    std::vector<std::uint32_t> kind_of_hop_;
    std::vector<std::uint32_t> hops_;
    std::vector<std::uint32_t> nodes_;
    std::map<Profile, std::uint32_t> known_;
};

}  // namespace switchfold
