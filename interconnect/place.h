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

}  // namespace switchfold
