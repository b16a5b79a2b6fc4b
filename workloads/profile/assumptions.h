// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"

#include <string>
#include <vector>

namespace switchfold {

/// What was assumed in reading the traces, a sentence each. What several ranks state with other
/// numbers is said once, with the first one's.
[[nodiscard]] std::vector<std::string> assumptions_of(const std::vector<TraceFileReport>& files);

}  // namespace switchfold
