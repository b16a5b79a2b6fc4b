// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

struct CollectiveSpec;

/// What collectives have in common that move alike on one undisturbed machine.
using Likeness = std::vector<std::uint64_t>;

/// Who joins last, if the others have prepared what they can and wait for it.
inline constexpr std::uint32_t kNobodyLate = UINT32_MAX;
[[nodiscard]] Likeness likeness(const CollectiveSpec& spec, std::uint32_t late = kNobodyLate);
/// The same with nobody late.
[[nodiscard]] inline Likeness together(Likeness likeness) {
    likeness.front() = kNobodyLate;
    return likeness;
}

}  // namespace switchfold
