// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Fills in for which operator each GPU event was launched and which stream waits belong to issuing
/// a collective: the innermost operator around the call on its thread, else the one that the
/// event's of `external_ids` names (CpuOperator::kNoId: none). Sorts `operators` and the trace's
/// waits.
void find_launching_operators(
    RawTrace& raw, BigVector<CpuOperator>& operators, const BigVector<std::uint64_t>& external_ids);

/// Puts the GPU events in launch order such that every stream keeps its start order. Events without
/// a launching call, as of CUDA graphs, count as launched just before the next of their stream;
/// those before everything that was launched within the trace are left over from before it and
/// dropped. Those that overlap on a stream are parted.
void order_launches(RawTrace& raw);

}  // namespace switchfold
