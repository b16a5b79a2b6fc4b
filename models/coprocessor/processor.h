// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"
#include "models/coprocessor/program/parallel_program.h"
#include "models/coprocessor/thread_layout.h"

namespace switchfold {

/// Breakdown of a region's time, s.
struct RegionTime {
    double begin_and_end = 0;  ///< fork and final barrier
    double work = 0;           ///< of the busiest cores, between barriers
    double sums = 0;           ///< of the teams' gradients, including barriers
    [[nodiscard]] double total() const { return begin_and_end + work + sums; }
};

/// Runs parallel regions: a many-core coprocessor, or a socket of a host.
class Processor {
public:
    /// Copies both arguments.
    Processor(ProcessorParams params, ThreadLayout layout);

    [[nodiscard]] RegionTime run(const offload::Region& region) const;
    [[nodiscard]] const ProcessorParams& params() const { return params_; }
    [[nodiscard]] const ThreadLayout& layout() const { return layout_; }

private:
    ProcessorParams params_;
    ThreadLayout layout_;
};

/// Vector operations per second without any other work.
[[nodiscard]] double peak_flops(const ProcessorParams& processor, const ThreadLayout& layout);

}  // namespace switchfold
