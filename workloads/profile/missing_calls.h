// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstdint>

namespace switchfold {

/// Gives collectives whose calls the trace lacks (made before it began, or lost) what the trace
/// states of their like. Communication kernels of one name and launch shape on one stream repeat
/// from step to step: if all that have a call repeat with one period, the others have their place
/// in it. \returns how many collectives have got their details so.
std::uint64_t find_missing_calls(RawTrace& raw);

}  // namespace switchfold
