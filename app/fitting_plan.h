// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace switchfold {

struct FittingPlan {
    std::string plan;  ///< JSON
    std::string lack;  ///< why none of the plans that were tried fits; empty: this one fits
};

/// The first of a few common plans whose ranks' memory suffices: plain data parallelism with ever
/// fewer samples, then sharded state, then recomputation, then tensor parallelism. A network's path
/// is relative to `folder`. Throws ConfigError if the network or the system is no good.
[[nodiscard]] FittingPlan fitting_plan(
    const std::filesystem::path& system, const std::string& network,
    const std::filesystem::path& folder);

}  // namespace switchfold
