// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <string_view>

namespace switchfold {

/// What a point-to-point call does.
enum class Transfer : std::uint8_t { kNone, kSend, kReceive };
/// By c10d's name of a call ("send", "nccl:recv 1<-0").
[[nodiscard]] Transfer transfer_of(std::string_view call);
/// Whether the kernel was launched for a batch of calls, which stand before it.
[[nodiscard]] bool is_batch(const RawTrace& raw, const CollectiveDetails& details);
/// Whether the kernel sends or receives, or does both with single peers.
[[nodiscard]] bool is_point_to_point(const RawTrace& raw, const RawGpuEvent& gpu);

/// Finds what point-to-point kernels send and receive: peer and size stand on the kernel, on the
/// call around its launch, or, for a batch (c10d's batch_isend_irecv), on the calls before the
/// launch. Kernels of one batch become one call. A batch of collectives (c10d's coalescing manager)
/// becomes one collective of their sizes together. \pre find_launching_operators() has run.
void find_messages(RawTrace& raw, const BigVector<CpuOperator>& operators);

}  // namespace switchfold
