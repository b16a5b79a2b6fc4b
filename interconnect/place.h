// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// Where a node that forwards packets stands, and so a reduction unit in it.
enum class Place : std::uint8_t {
    kMachine,  ///< switch of the GPUs' own links, or of a pool beside them
    kLeaf,     ///< switch between machines with NICs, or GPUs, on it
    kSpine,    ///< switch between leaves
    kCore,     ///< switch between spines
    kNic,
    kPcie,  ///< PCIe switch
};
template <>
struct EnumNames<Place> {
    static constexpr std::array<std::pair<Place, std::string_view>, 6> kNames{
        {{Place::kMachine, "machine"},
         {Place::kLeaf, "leaf"},
         {Place::kSpine, "spine"},
         {Place::kCore, "core"},
         {Place::kNic, "nic"},
         {Place::kPcie, "pcie"}}};
};

struct Topology;

/// Which of the nodes that a reduction unit's parameters are of have it. Made for being derived
/// from outside: ReductionUnitParams::own_place takes any. Its contract:
///
/// 1. It is asked once a node, after the topology is built and before any tree is planned.
/// 2. It may look at nodes, edges, machines and names; it changes none.
/// 3. Nodes without the unit forward, and trees lead through those that have one.
/// 4. Members that no tree of units joins cannot reduce: the run is refused, with the reason.
/// 5. It has no state that changes, and outlives the run.
class ReductionPlace {
public:
    ReductionPlace() = default;
    virtual ~ReductionPlace() = default;
    ReductionPlace(const ReductionPlace&) = delete;
    ReductionPlace& operator=(const ReductionPlace&) = delete;
    ReductionPlace(ReductionPlace&&) = delete;
    ReductionPlace& operator=(ReductionPlace&&) = delete;

    [[nodiscard]] virtual bool has_unit(const Topology& topology, std::uint32_t node) const = 0;
};

}  // namespace switchfold
