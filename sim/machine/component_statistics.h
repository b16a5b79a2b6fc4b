// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics.h"
#include "core/units.h"
#include "models/collectives/shortcuts/rank_symmetry.h"
#include "sim/machine/machine_counts.h"

#include <optional>
#include <vector>

namespace switchfold {

class Machine;

/// Statistics of every link, switch, reduction unit, GPU and memory. `end`: end of the run. With a
/// fold, what was not simulated has the statistics of what resembles it.
[[nodiscard]] std::vector<StatisticTable> collect_statistics(
    Machine& machine, const MachineCounts& counts, Time end,
    const std::optional<RankSymmetry>& fold = std::nullopt);

}  // namespace switchfold
