// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/spread.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// How the traced ranks became a whole run.
struct WholeRun {
    std::vector<std::string> notes;     ///< what was assumed, a sentence each
    std::vector<std::string> problems;  ///< why they cannot; the graph may be half changed
    std::vector<std::vector<std::uint32_t>> orbits = {};  ///< as of Spread
};

/// Makes a run of `ranks` ranks of the traced ones: one may stand for all, if `for_all` says so or
/// the run has one; a whole traced run may be repeated; else every rank has its trace. Ranks
/// that do what others do have no operations if they are folded.
[[nodiscard]] WholeRun
complete_run(TraceWorkload& trace, std::uint32_t ranks, bool for_all, const AskedFold& fold = {});

/// Why no machine can run it to its end, a sentence each: with its overlap, or only without it.
struct Impossible {
    std::vector<std::string> overlapped;
    std::vector<std::string> serial;
};
[[nodiscard]] Impossible impossible_runs(const ExecutionGraph& graph);

}  // namespace switchfold
