// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Finds the operator for which each GPU event was launched, and the stream waits that belong to
/// issuing a collective. The operator is the innermost one around the call on its thread, or else
/// the one with the event's entry in `external_ids` (CpuOperator::kNoId: none). Sorts `operators`
/// and the trace's waits.
void find_launching_operators(
    RawTrace& raw, BigVector<CpuOperator>& operators, const BigVector<std::uint64_t>& external_ids);

/// Sorts the GPU events in launch order so that every stream keeps its start order. Events without
/// a launching call, for example of CUDA graphs, count as launched just before the next one of
/// their stream. Those before everything that was launched within the trace are left over from
/// earlier work and dropped. Overlapping events of a stream are separated.
void order_launches(RawTrace& raw);

}  // namespace switchfold
