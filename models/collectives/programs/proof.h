// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/programs/program.h"

#include <optional>
#include <string>

namespace switchfold::programs {

/// What is wrong with a program, at the first instruction that is.
struct Flaw {
    std::string pointer;  ///< into the file
    std::string what;     ///< with what was expected
};

/// Runs the program on sets in place of numbers: which ranks' parts of which chunk a place holds.
/// Nothing where every rank ends with what the collective says; then the chunks of all instructions
/// are noted in them. `slots`: chunks that a connection holds. Two orders are tried, of which one
/// goes to the ranks from the first on and one from the last.
[[nodiscard]] std::optional<Flaw> find_flaw(Program& program, std::uint32_t slots);

}  // namespace switchfold::programs
