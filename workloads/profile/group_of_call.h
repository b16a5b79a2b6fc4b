// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstdint>

namespace switchfold {

/// Number of ranks in the group of a collective's call, from its tensors: c10d's all-gather into
/// one buffer and its reduce-scatter of one hold a share and all shares. 0 for other calls, and for
/// tensors that are no such pair. Not every version of PyTorch records the group.
[[nodiscard]] std::uint32_t members_of_call(const RawTrace& raw, const OperatorKind& call);

}  // namespace switchfold
