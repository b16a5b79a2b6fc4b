// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/calibrate/knobs.h"
#include "validation/collectives/benchmark_launches.h"
#include "validation/collectives/collective_plan.h"
#include "workloads/graph/kernel_shape.h"
#include "workloads/kernels/kernel_table.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace switchfold::validation {

/// A collective of some size, and how many GPUs a host thread drives there.
struct CollectivePoint {
    PlannedRun run;
    std::shared_ptr<const MatchedMachine> machine;  ///< at its number of nodes
    std::shared_ptr<const BenchmarkLaunches> launches;
    MeasuredRow row;  ///< one of those that measured it
};
/// A product or attention of a table, in the loop of the tables' benchmark.
struct KernelPoint {
    std::variant<MatrixProduct, Attention> shape;
};
/// A kernel of a trace, alone on the GPU, as a profiler measures it.
struct TracedPoint {
    MatrixProduct product;
};
/// A copy of one GPU from or to pinned memory.
struct CopyPoint {
    bool to_device = true;
    Bytes bytes;
};

/// What was measured, once or several times.
struct CalibrationPoint {
    std::variant<CollectivePoint, KernelPoint, TracedPoint, CopyPoint> what;
    std::string group;         ///< "all_reduce of 8 GPUs": in tables of errors
    double size = 0;           ///< bytes or operations: every second size of a group is left out
    double measured_us = 0;    ///< geometric mean of the measurements
    std::size_t measured = 0;  ///< how many
    double spread = 1;         ///< slowest over quickest
    bool fitted = false;       ///< else it checks the fit
    bool large = false;        ///< of a collective: from 1 MiB on

    [[nodiscard]] Told told() const;
};

/// Divides the points into those to fit and those to check with: every second size of a group, at
/// most `most` of either in all, spread over sizes and equally over groups. The others are removed.
void divide(std::vector<CalibrationPoint>& points, std::size_t most);

}  // namespace switchfold::validation
