// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <cstddef>
#include <filesystem>

namespace switchfold {

struct CsvTable;

/// Bars that a page holds of all ranks and scenarios together; of more, some ranks or the
/// beginning are shown.
inline constexpr std::size_t kMostTimelineBars = 300'000;

/// What timelines.js draws: kernels, collectives and copies of all ranks in every scenario, with
/// the kernels' causes. Columns that are alike are there once, and those of a rank are differences
/// from the first rank's where both run the same kernels (`like_first`).
[[nodiscard]] OrderedJson timelines_data(
    const std::filesystem::path& folder, const CsvTable& kernels,
    std::size_t most_bars = kMostTimelineBars);

/// What map.js draws: links.json of a run, with fewer bins if it is large; null without the file.
[[nodiscard]] OrderedJson map_data(const std::filesystem::path& folder);

/// How busy the components of a kind in a result were, the busiest first. Of very many, those that
/// tell how these lie.
[[nodiscard]] OrderedJson uses_of(const OrderedJson& components);

}  // namespace switchfold
