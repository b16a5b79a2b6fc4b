// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/ring_buffers.h"
#include "models/collectives/running_collective.h"

#include <cstdint>
#include <memory>

namespace switchfold {

/// DeepEP's kernels for large exchanges inside one machine (csrc/kernels/legacy/intranode.cu).
[[nodiscard]] RingShape deepep_shape(const ExpertsParams& params, const CollectiveSpec& spec);

/// Time (ps) of a sending warp per token: one round of loads and stores per 5 (combine: 4) times
/// 512 bytes, and one per 32 scales.
[[nodiscard]] std::uint64_t
sender_row_time(const ExpertsParams& params, TokenBytes row, bool combine);
/// Time (ps) of a dispatch's receiving warp per token: through shared memory in two halves, plus
/// the scales.
[[nodiscard]] std::uint64_t receiver_row_time(const ExpertsParams& params, TokenBytes row);

[[nodiscard]] std::unique_ptr<RunningCollective>
make_deepep_dispatch(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);
[[nodiscard]] std::unique_ptr<RunningCollective>
make_deepep_combine(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);

}  // namespace switchfold
