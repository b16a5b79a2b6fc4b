// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

namespace switchfold::validation {

/// Time by number of SMs for communication.
using TimeBySms = std::map<std::uint32_t, double>;

/// The fewest SMs beyond which more SMs save at most a tenth of the time: the links are the limit.
[[nodiscard]] std::uint32_t knee_of(const TimeBySms& times);

}  // namespace switchfold::validation
