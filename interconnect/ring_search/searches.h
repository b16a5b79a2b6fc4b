// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/relay.h"
#include "interconnect/ring_search/lane_table.h"

#include <cstdint>
#include <vector>

namespace switchfold {

// Searches for rings over direct links, each for at least three members. All end after a bounded
// number of lanes looked at, as NCCL's search does (graph/search.cc, NCCL_SEARCH_GLOBAL_TIMEOUT):
// whether a graph has a ring at all takes exponential time to decide.
inline constexpr std::uint64_t kMostLanesLookedAt = 20'000'000;

/// Rings that are each used in both directions (two entries, one after the other, so that any
/// number of channels loads both alike). Tries every combination of rings as long as the bound
/// allows; exact on the machines of up to eight GPUs that are built.
[[nodiscard]] std::vector<Ring> paired_rings(const LaneTable& lanes);

/// Rings that are each used in both directions, one after another: a path that grows towards the
/// member with the fewest ways on, and turns its end round where it cannot grow (Posa's rotations).
/// Finds rings in meshes and tori of a thousand GPUs, rarely all of them.
[[nodiscard]] std::vector<Ring> rotated_rings(const LaneTable& lanes);

/// Up to `wanted` one-way rings, for members with an odd number of lanes: random ones with many
/// restarts, in a fixed pseudo-random sequence.
[[nodiscard]] std::vector<Ring> one_way_rings(const LaneTable& lanes, std::size_t wanted);

/// Rings in which some neighbours have no direct link: another member relays between them, and the
/// ring takes a lane to it and one from it. One ring after another, in both directions if lanes are
/// left. `members`: their ranks, ascending.
[[nodiscard]] std::vector<Ring> relayed_rings(
    const LaneTable& lanes, const Relays& relays, const std::vector<std::uint32_t>& members);

}  // namespace switchfold
