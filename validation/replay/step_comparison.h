// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/outcome.h"
#include "validation/harness/suite.h"
#include "validation/overlap/overlap_pairs.h"
#include "workloads/graph/execution_graph.h"

#include <span>
#include <string>
#include <vector>

namespace switchfold::validation {

/// One rank's operations as they were traced and as they were simulated, by index.
struct RankSpans {
    const RankGraph* graph = nullptr;
    std::vector<OperationTimes> measured;
    /// Several where one trace stands for several ranks.
    std::vector<std::vector<OperationTimes>> simulated;
};

/// How long a rank's collectives were resident, and how much of that kernels ran beside them.
struct Residence {
    double resident_us = 0;  ///< sum over the collectives
    double beside_us = 0;    ///< of it
};
[[nodiscard]] Residence
residence_of(const RankGraph& rank, std::span<const OperationTimes> operations);

/// Cases of a trace, whose files were read into `ranks` in their order: for all kernels, the
/// forward and the backward pass
/// - what the kernels that the trace pairs lost beside collectives, as a share of all kernels'
/// time,
/// - their time over their time alone,
/// and of the collectives their residence and its share beside kernels. A pass in which fewer than
/// `kFewest` kernels were paired, or in which those lost nothing, is left to `unmatched`.
inline constexpr std::size_t kFewest = 5;
void compare_step(
    const std::string& id,
    const OverlapTrace& pairs,
    const std::vector<RankSpans>& ranks,
    SuiteResult& suite);

}  // namespace switchfold::validation
