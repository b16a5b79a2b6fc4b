// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace switchfold::learning {

/// At least so many characters of English sentences that a small grammar makes: lower case, spaces
/// and full stops. Verbs agree with their subject across a clause that may stand between.
[[nodiscard]] std::string sentences(std::size_t characters, std::uint64_t seed);

}  // namespace switchfold::learning
