// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "workloads/profile/rank_alignment.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Output of `trace check` and `trace inspect`, as text and as JSON.

/// "1, 2, 3", truncated if long.
[[nodiscard]] std::string listed(const std::vector<std::uint32_t>& ranks);
void print_losses(const TraceFileReport& file);
void print_machine(const TraceFileReport& file);
void print_summary(const TraceSummary& summary, const TraceFileReport& file);
void print_alignment(const RankAlignment& alignment, const TraceWorkload& workload);

[[nodiscard]] OrderedJson to_json(const TraceFileReport& file);
[[nodiscard]] OrderedJson to_json(const TraceSummary& summary);
[[nodiscard]] OrderedJson to_json(const RankAlignment& alignment, const TraceWorkload& workload);
[[nodiscard]] OrderedJson to_json(const std::vector<Problem>& problems);

}  // namespace switchfold
