// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// What a simulation may leave out. Every level names in its notes what it left out and by how much
/// times may differ.
enum class Fidelity : std::uint8_t {
    kExact,  ///< nothing: every transfer of every rank
    kAuto,   ///< what is known to differ by less than the model does from measurements
    kFast,   ///< also what differs by several percent
};
template <>
struct EnumNames<Fidelity> {
    static constexpr std::array<std::pair<Fidelity, std::string_view>, 3> kNames{
        {{Fidelity::kExact, "exact"}, {Fidelity::kAuto, "auto"}, {Fidelity::kFast, "fast"}}};
};

/// Share by which what `auto` leaves out may change times on average: a quarter of the mean error
/// of NVLS trees over machines against measurements, the least of all-reduces there (7.3 % from 64
/// MiB on in validation/data/residuals.csv).
inline constexpr double kAutoError = 0.015;

}  // namespace switchfold
