// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Separates GPU events that overlap on a stream, which runs one operation at a time. The events
/// are sorted by start. One that begins before its predecessor's end begins at that end instead and
/// keeps its own end: time stamps were rounded, or it was launched early (programmatic dependent
/// launch) and waited. One that also ends before its predecessor is left alone, or shifted as a
/// whole if the overlap is within rounding noise. The report states what was changed.
void part_overlapping(RawTrace& raw);

}  // namespace switchfold
