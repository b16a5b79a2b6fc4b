// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random_stream.h"
#include "models/collectives/experts/token_counts.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Tokens of a rank by the exchange's splits.
[[nodiscard]] TokenCounts
tokens_of_splits(const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank);

/// Experts that a rank's tokens choose, so that each other rank gets the rows that the splits say.
/// Which tokens go where is random.
[[nodiscard]] std::vector<std::uint32_t> choose_by_splits(
    const ExpertExchange& exchange, std::uint32_t ranks, std::uint32_t rank, RandomStream& random);

}  // namespace switchfold
