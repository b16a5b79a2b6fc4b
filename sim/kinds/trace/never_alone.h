// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <functional>

namespace switchfold {

/// Kernels of a trace that ran beside collectives each time.
struct NeverAlone {
    std::uint64_t kernels = 0;  ///< once for ranks that share their graph
    Time traced;                ///< what they took beside collectives
    Time alone;                 ///< what they take alone
    double share = 0;           ///< of the time of all kernels, as traced
    bool solved = false;        ///< false: too little to matter, they keep their traced times
};

/// The file that a rank's operations are from, and the GPU that it was recorded on.
struct TracedRank {
    std::size_t file = 0;
    const GpuParams* gpu = nullptr;
};
using TracedRankOf = std::function<TracedRank(std::uint32_t rank)>;

/// Sets the isolated duration of kernels that always ran beside collectives: the one with which the
/// model of the traced GPU gives their traced duration beside what was resident there, and when.
/// `traced_on` tells what the collectives draw; `measured` has the spans of each file's operations.
/// Simulations run as jobs. \pre sizes of collectives are known or estimated.
NeverAlone set_never_alone(
    const SystemParams& traced_on, ExecutionGraph& graph,
    const std::vector<BigVector<TraceWorkload::Measured>>& measured, const TracedRankOf& rank_of,
    const SimulateOptions& options, const RunJobs& run);

}  // namespace switchfold
