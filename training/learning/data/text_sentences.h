// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace switchfold::learning {

/// At least `characters` characters of English sentences from a small grammar: lower case, spaces
/// and full stops. Verbs agree with their subject across an intervening clause.
[[nodiscard]] std::string sentences(std::size_t characters, std::uint64_t seed);

}  // namespace switchfold::learning
