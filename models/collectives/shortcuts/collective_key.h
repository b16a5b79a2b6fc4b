// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

struct CollectiveSpec;

/// What collectives have in common that move alike on one undisturbed machine.
using CollectiveKey = std::vector<std::uint64_t>;

/// With nobody late.
[[nodiscard]] CollectiveKey key_of(const CollectiveSpec& spec);
/// The same with another one who joins last, while the others have prepared what they can and wait.
inline constexpr std::uint32_t kNobodyLate = UINT32_MAX;
[[nodiscard]] CollectiveKey with_late(CollectiveKey key, std::uint32_t position);

/// Whether collectives differ in nothing but which ranks they have.
[[nodiscard]] bool alike(const CollectiveSpec& a, const CollectiveSpec& b);

}  // namespace switchfold
