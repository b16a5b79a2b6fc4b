// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

struct CollectiveSpec;

/// What collectives have in common that move alike on one undisturbed machine.
using Likeness = std::vector<std::uint64_t>;

/// With nobody late.
[[nodiscard]] Likeness likeness(const CollectiveSpec& spec);
/// The same with another one who joins last, while the others have prepared what they can and wait.
inline constexpr std::uint32_t kNobodyLate = UINT32_MAX;
[[nodiscard]] Likeness with_late(Likeness likeness, std::uint32_t position);

}  // namespace switchfold
