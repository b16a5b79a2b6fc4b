// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// How often communication kernels of each stream overtook compute: they became ready after a
/// kernel had begun, and began while that kernel still had blocks to place that leave no room for
/// one of theirs. Between streams of equal priority the earlier kernel's blocks go first, so the
/// stream has a higher priority than compute, which traces do not state. By stream, as
/// RawTrace::streams. \pre the GPU events are in launch order.
[[nodiscard]] std::vector<std::uint32_t> count_overtaking(const RawTrace& raw);

/// As few are evidence: one may be a time stamp that is off.
inline constexpr std::uint32_t kFewestOvertaking = 2;

}  // namespace switchfold
