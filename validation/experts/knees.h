// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

namespace switchfold::validation {

/// Time by SMs given to communication.
using TimeBySms = std::map<std::uint32_t, double>;

/// The fewest SMs from which on more of them bring no more than a tenth: where the links bind.
[[nodiscard]] std::uint32_t knee_of(const TimeBySms& times);

}  // namespace switchfold::validation
