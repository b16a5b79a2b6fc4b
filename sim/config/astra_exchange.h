// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/astra_network.h"

#include <string>
#include <vector>

namespace switchfold {

/// Whether ASTRA-sim's word for an algorithm sends to each of the others at once.
[[nodiscard]] bool is_direct_word(const std::string& word);
/// A program (docs/programs.md) of an all-to-all that goes along the dimensions, from the first to
/// the last: in each, NPUs exchange what is for the others' places in it, whatever the places in
/// other dimensions. `words` has ASTRA-sim's algorithm of each dimension: `direct` ones send to
/// each of the others, the rest hands everything on from neighbour to neighbour, as its ring does.
[[nodiscard]] OrderedJson
exchange_program(const AstraNetwork& network, const std::vector<std::string>& words);
/// Why there is none: it would have more instructions or blocks than a program may. Empty: there
/// is.
[[nodiscard]] std::string
why_no_exchange(const AstraNetwork& network, const std::vector<std::string>& words);

}  // namespace switchfold
