// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold::fuzz {

/// A copy of a program or another text of words, numbers and elements with one of them changed: a
/// number, a word, an element repeated, left out or moved. Most copies can still be read, so that
/// what comes behind the parser is reached, which bytes changed at random seldom do. The same
/// `seed` makes the same copy.
[[nodiscard]] std::string mutated_text(std::string_view text, std::uint32_t seed);

}  // namespace switchfold::fuzz
