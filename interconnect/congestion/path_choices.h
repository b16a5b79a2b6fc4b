// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/path_finder.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace switchfold {

/// What is known of each place in the route table: whose it is, and at which other places the same
/// pair's packets may go on from the same node, as many hops from their end.
class PathChoices {
public:
    static constexpr std::uint32_t kNoFlow = UINT32_MAX;
    struct Place {
        std::uint32_t flow = kNoFlow;
        std::uint32_t begin = 0;  ///< of its route
        std::uint32_t first = 0;  ///< of its choices
        std::uint16_t count = 0;  ///< more than one, or none
        std::uint16_t links = 0;  ///< of the network, on the whole route
    };

    explicit PathChoices(const Topology& topology) : topology_(topology) {}

    /// Routes of a pair, with their begin in the route table.
    void learn(std::uint32_t flow, const std::vector<std::pair<std::uint32_t, Path>>& routes);
    /// Of a place in the route table; no flow if nothing is known of it.
    [[nodiscard]] const Place& at(std::uint32_t place) const {
        return place < places_.size() ? places_[place] : unknown_;
    }
    [[nodiscard]] std::span<const std::uint32_t> of(const Place& place) const {
        return {choices_.data() + place.first, place.count};
    }
    /// Links of the network on a path.
    [[nodiscard]] std::uint16_t network_links(const Path& path) const;

private:
    const Topology& topology_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> choices_;
    Place unknown_;
};

/// Whether the node is a switch of the network between machines.
[[nodiscard]] bool is_network_switch(const TopologyNode& node);
/// Whether the hop's link belongs to the network between machines: one of its ends is a switch of
/// the network.
[[nodiscard]] bool in_network(const Topology& topology, std::uint32_t hop);
/// Whether the hop ends at a switch of the network.
[[nodiscard]] bool ends_in_network(const Topology& topology, std::uint32_t hop);

}  // namespace switchfold
