// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/intervals.h"
#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Drops GPU events that lie far outside of the recording, whose host events span `host` (empty if
/// there are none): before it by more than its length, or behind it by more than ten times that.
/// GPUs lag behind their host, but not so far. Also drops the few that begin more than a
/// millisecond before their launch. Their launches count as lost. If half of all events lie
/// outside, or many are early, the two clocks differ and those stay.
void drop_impossible_times(RawTrace& raw, Interval host);

}  // namespace switchfold
