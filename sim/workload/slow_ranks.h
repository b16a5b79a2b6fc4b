// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/slow_ranks.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace switchfold {

class WorkloadContext;

/// The experiment's slow and late ranks that take part in a workload of `all` ranks. Throws
/// ConfigError for one that does not.
[[nodiscard]] std::vector<SlowRank> slow_ranks(
    const WorkloadContext& context, std::size_t all,
    const std::function<bool(std::uint32_t)>& works);
/// Where all ranks do.
[[nodiscard]] std::vector<SlowRank> slow_ranks(const WorkloadContext& context, std::size_t all);

/// Their ranks, with a number above 0 that those share which are as slow and as late.
[[nodiscard]] std::map<std::uint32_t, std::uint32_t> kinds_of(const std::vector<SlowRank>& slow);

}  // namespace switchfold
