// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/experiment.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// What measurements are of.
enum class Told : std::uint8_t { kCollectives, kKernels, kCopies };
/// "collectives", "kernels", "copies".
[[nodiscard]] std::string_view told_word(Told told);

/// Parameters that calibration moves together, by one factor.
struct Knob {
    std::string_view name;
    Told told_by = Told::kCollectives;
    /// JSON pointers of a system; a star is one token.
    std::array<std::string_view, 8> pointers;
    double low = 0.5;  ///< bounds of the factor
    double high = 2;
    double sigma = 0.1;      ///< of the factor's logarithm, before any data
    std::string_view why;    ///< sigma's reason
    std::string_view tells;  ///< which data tell it
};
/// All of them.
[[nodiscard]] std::span<const Knob> knobs();

/// A parameter of a system.
struct Turned {
    std::string pointer;
    double shipped = 0;  ///< ps, bytes or operations a second, or a number
    std::string (*text)(std::uint64_t) = nullptr;  ///< with its unit; null: a whole number
    double most = 0;                               ///< that the parameter may be; 0: no limit
    /// The value at a factor, in four digits, as the system's file has it.
    [[nodiscard]] Json at(double factor) const;
};

/// A knob of one system, with at least one parameter.
struct Dial {
    const Knob* knob = nullptr;
    std::vector<Turned> parameters;
    double low = -1;  ///< bounds of the factor's logarithm
    double high = 1;
};
/// The knobs that the system has and that `told` are about, in the order of knobs().
[[nodiscard]] std::vector<Dial> dials_of(const SystemParams& system, std::span<const Told> told);

/// The parameters at these logarithms of factors; those at 0 are left out.
[[nodiscard]] std::vector<Override>
turned_to(std::span<const Dial> dials, std::span<const double> logarithms);

}  // namespace switchfold::validation
