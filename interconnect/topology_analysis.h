// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/path_finder.h"
#include "interconnect/topology.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

/// Bandwidth of all lanes of an edge in one direction, after encoding and framing but including
/// packet headers.
[[nodiscard]] Bandwidth usable_bandwidth(const Topology& topology, const TopologyEdge& edge);

/// Payload bytes a second that an edge carries into a GPU when its switch reduces by pulls of
/// `unit` bytes for `members` GPUs: the GPU gets all sums (multicast stores) and the fetches that
/// it answers; of one in `members` of the data it also gets the answer to its own request.
[[nodiscard]] double pulled_payload(
    const Topology& topology, const TopologyEdge& edge, std::uint32_t unit, std::size_t members);

/// Sum of the latencies of a path's links and forwarding nodes, without queueing and time on the
/// wire.
[[nodiscard]] Time unloaded_latency(const Topology& topology, const Path& path, std::uint32_t from);

/// Bytes per second that can flow from the GPUs marked true to the others: the minimum cut, by
/// max-flow. In a single machine whose GPUs are connected by links of their own, PCIe is excluded,
/// as traffic does not use it.
[[nodiscard]] Bandwidth cut_bandwidth(const Topology& topology, const std::vector<bool>& side);

struct Bisection {
    Bandwidth bandwidth;  ///< in one direction
    bool exact = false;   ///< minimum over all halvings; otherwise over some, hence an upper bound
};
/// The smallest cut between two halves of the GPUs (with an odd number, one half has one more). Up
/// to 16 GPUs all halvings are tried, above that halvings by blocks of ranks.
[[nodiscard]] Bisection bisection(const Topology& topology);

struct Diameter {
    std::size_t hops = 0;
    Time latency;  ///< largest unloaded latency
    bool all =
        false;  ///< over all pairs; otherwise over those of a few GPUs spread over the machine
    std::size_t targets = 0;  ///< other ends of each of those
};
[[nodiscard]] Diameter diameter(const Topology& topology);

/// Upper bound on the bus bandwidth of a ring all-reduce: payload bytes per second that every GPU
/// can pass on if all send along these rings of ranks at once, with equal shares per ring, in
/// writes of `unit` bytes.
[[nodiscard]] Bandwidth ring_bound(
    const Topology& topology, std::span<const std::vector<std::uint32_t>> rings,
    std::uint32_t unit);

/// Upper bound on the bus bandwidth of a pull all-reduce over all GPUs in one layer of switches:
/// limited by what enters a GPU. Zero if no reducing switches join all GPUs.
[[nodiscard]] Bandwidth in_switch_bound(const Topology& topology, std::uint32_t unit);

}  // namespace switchfold
