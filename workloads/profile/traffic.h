// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Gives every kernel its bytes, flops and their source: from the operator's tensors where they are
/// recorded (shared by isolated duration among the kernels of one class that one call launched),
/// else the share of `peak` (bytes a second) that its class draws by default. No kernel gets more
/// than the peak allows in its isolated duration.
void set_traffic(
    const RawTrace& raw,
    RankGraph& graph,
    const BigVector<std::uint32_t>& operation_of,
    double peak);

}  // namespace switchfold
