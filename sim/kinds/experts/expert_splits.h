// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kinds/experts/experts_params.h"
#include "sim/workload/workload_context.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// The rows of each pair of ranks, as ExpertExchange::splits, from the experiment or from an
/// all-to-all of a trace; what was assumed of the trace goes into `notes`. Throws ConfigError.
/// \pre the workload has splits
[[nodiscard]] std::vector<std::uint32_t> read_splits(
    const ExpertsWorkloadParams& w, const WorkloadContext& context, std::uint32_t ranks,
    std::vector<std::string>& notes);

}  // namespace switchfold
