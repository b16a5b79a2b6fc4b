// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstddef>
#include <optional>

namespace switchfold {

/// `count` times the same `period` GPU events in launch order, from `first` on.
struct Repeats {
    std::size_t first = 0;
    std::size_t period = 0;
    std::size_t count = 0;
};

/// The shortest sequence of kernels that the trace's end repeats at least twice, if it covers most
/// of the trace and looks like a training step: it has forward and backward work, or an optimizer's
/// kernels.
[[nodiscard]] std::optional<Repeats> find_repeats(const RawTrace& raw);

}  // namespace switchfold
