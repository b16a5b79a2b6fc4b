// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Sets every kernel's bytes, FLOPs, their source, and the shape of what its operator computes. If
/// the operator's tensors are recorded, its bytes are shared, in proportion to isolated duration,
/// among the kernels of one class that one call launched. Otherwise a kernel gets the share of
/// `peak` (bytes per second) that its class uses by default. No kernel gets more than the peak
/// allows in its isolated duration.
void set_traffic(
    const RawTrace& raw, RankGraph& graph, const BigVector<std::uint32_t>& operation_of,
    double peak);

}  // namespace switchfold
