// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/path_finder.h"
#include "interconnect/topology.h"
#include "sim/core/units.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

/// All lanes of an edge, one direction, after encoding and framing but with packet headers.
[[nodiscard]] Bandwidth usable_bandwidth(const Topology& topology, const TopologyEdge& edge);

/// Payload bytes a second that an edge carries into a GPU when its switch reduces by pulls of
/// `unit` bytes for `members` GPUs: the GPU gets all sums (multicast stores) and the fetches that
/// it answers; of one in `members` of the data it also gets the answer to its own request.
[[nodiscard]] double pulled_payload(
    const Topology& topology, const TopologyEdge& edge, std::uint32_t unit, std::size_t members);

/// Sum of the latencies of a path's links and forwarding nodes: no queueing, no time on the wire.
[[nodiscard]] Time unloaded_latency(const Topology& topology, const Path& path, std::uint32_t from);

/// Bytes a second that can flow from the GPUs marked true to the others, by max-flow: the least
/// cut between them. Where the GPUs of a single machine are joined by links of their own, its PCIe
/// is left out, as traffic leaves it out.
[[nodiscard]] Bandwidth cut_bandwidth(const Topology& topology, const std::vector<bool>& side);

struct Bisection {
    Bandwidth bandwidth;  ///< one direction
    bool exact = false;   ///< least over all halvings; else over some, so at most this
};
/// The smallest cut between two halves of the GPUs (of an odd number one half has one more). Up to
/// 16 GPUs all halvings are tried, beyond that those by blocks of ranks.
[[nodiscard]] Bisection bisection(const Topology& topology);

struct Diameter {
    std::size_t hops = 0;
    Time latency;      ///< largest unloaded latency
    bool all = false;  ///< over all pairs; else over those of a few GPUs spread over the machine
};
[[nodiscard]] Diameter diameter(const Topology& topology);

/// Payload bytes a second that every GPU can pass on if all of them send along these rings of ranks
/// at once, each ring the same share, in writes of `unit` bytes: the bus bandwidth that a ring
/// all-reduce cannot exceed.
[[nodiscard]] Bandwidth ring_bound(
    const Topology& topology,
    std::span<const std::vector<std::uint32_t>> rings,
    std::uint32_t unit);

/// Bus bandwidth that a pull-mode all-reduce over all GPUs in one layer of switches cannot exceed:
/// what enters a GPU. Zero where no switches join all GPUs and reduce.
[[nodiscard]] Bandwidth in_switch_bound(const Topology& topology, std::uint32_t unit);

}  // namespace switchfold
