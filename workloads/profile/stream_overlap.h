// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Separates GPU events that overlap on a stream, which runs one operation at a time. The events
/// are sorted by start.
/// - Two of one CUDA graph: the earlier one ends where the later begins. Its end was stamped late,
///   which holds up nobody inside a graph. On GPUs that can launch ahead (compute capability 9 and
///   later, or unknown) only if the later one also ends within it.
/// - Otherwise one that begins before its predecessor's end begins at that end instead and keeps
///   its own end: time stamps were rounded, or it was launched early (programmatic dependent
///   launch) and waited. Within rounding noise, one that also ends before its predecessor is
///   shifted as a whole.
/// - Any other that also ends before its predecessor is left alone.
/// The report states what was changed.
void part_overlapping(RawTrace& raw);

}  // namespace switchfold
