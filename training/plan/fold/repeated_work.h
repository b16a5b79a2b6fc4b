// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/work_item.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace switchfold {

/// Whether two passes take the same time: they are equal except for names and memory.
[[nodiscard]] bool same_times(const Work& a, const Work& b);

/// A stretch of equal parts of a pass, as the blocks of a network are.
struct RepeatedWork {
    std::size_t begin = 0;  ///< its first item
    std::size_t end = 0;    ///< after its last
    std::uint32_t parts = 0;
    std::size_t part = 0;  ///< items of a part that take time
};

/// The stretch of a pass with the most items that take time, if it has at least `fewest` parts
/// and each has a collective. Parts are equal except for names and memory.
[[nodiscard]] std::optional<RepeatedWork> repeated_work(const Work& work, std::uint32_t fewest);

/// A pass with fewer of the stretch's parts.
struct ShorterWork {
    Work first;      ///< what comes before the stretch, and its first parts
    Work repeating;  ///< the next parts
    Work rest;       ///< what comes after the stretch
};
/// \pre the stretch has so many parts
[[nodiscard]] ShorterWork shorter_work(
    const Work& work, const RepeatedWork& repeated, std::uint32_t first, std::uint32_t repeating);

}  // namespace switchfold
