// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "validation/harness/suite.h"
#include "validation/overlap/overlap_pairs.h"
#include "workloads/graph/execution_graph.h"

#include <span>
#include <string>
#include <vector>

namespace switchfold::validation {

/// One rank's traced and simulated operations, by index.
struct RankSpans {
    const RankGraph* graph = nullptr;
    std::vector<OperationTimes> measured;
    /// Several entries if one trace represents several ranks.
    std::vector<std::vector<OperationTimes>> simulated;
};

/// How long a rank's collectives were resident, and for how much of that kernels ran beside them.
struct Residence {
    double resident_us = 0;  ///< sum over the collectives
    double beside_us = 0;    ///< part of it beside kernels
};
[[nodiscard]] Residence
residence_of(const RankGraph& rank, std::span<const OperationTimes> operations);

/// Cases of a trace, for all kernels, the forward and the backward pass. `ranks` holds its files in
/// order. Cases are: time that the paired kernels lost beside collectives, as a share of all
/// kernels' time; their time over their isolated time; the collectives' residence, and its share
/// beside kernels. A pass with fewer than `kFewest` paired kernels, or without lost time, goes to
/// `unmatched`.
inline constexpr std::size_t kFewest = 5;
void compare_step(
    const std::string& id, const OverlapTrace& pairs, const std::vector<RankSpans>& ranks,
    SuiteResult& suite);

}  // namespace switchfold::validation
