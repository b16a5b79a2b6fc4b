// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// A stream runs one operation after the other. Where the times of GPU events, which stand in the
/// order of their starts, say that one began before the one before it on its stream had ended, it
/// begins at that end instead and keeps its own: time stamps were rounded, or it was launched ahead
/// of its turn (programmatic dependent launch) and waited. What ended before it was its turn is
/// left as it is, but for the noise of rounding, in which it is moved as a whole. Says in the
/// report what was done.
void part_overlapping(RawTrace& raw);

}  // namespace switchfold
