// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// The training steps of a recording, and how they were found.
struct FoundSteps {
    static constexpr std::uint32_t kOutside = UINT32_MAX;

    std::vector<RawStep> steps;  ///< those that are whole and have GPU work, by start
    std::vector<bool> apart;  ///< by step: a candidate between it and the one before was left out
    /// By GPU event of the trace: index into `steps`, or kOutside.
    BigVector<std::uint32_t> step_of;
    std::string how;                 ///< "2 of 3 step marks: 1 has no GPU work"
    std::vector<std::string> notes;  ///< what was left out, a sentence each
};

/// Steps are, in this order: marks with GPU work ("ProfilerStep#7"), what ends with an optimizer's
/// step, a sequence of kernels that repeats to the end of the recording, or else everything. A step
/// that lacks kernels which it launched is left out if others are whole. `only`: numbers of marks
/// to which the steps are limited; empty: all. \pre order_launches() has run.
[[nodiscard]] FoundSteps find_steps(const RawTrace& raw, const std::vector<std::int64_t>& only);

/// Keeps the GPU events of the steps. Time between steps that lie apart is cut out, on the host's
/// and the GPU's clock each, so that the next step follows at once.
void keep_steps(RawTrace& raw, const FoundSteps& found);

}  // namespace switchfold
