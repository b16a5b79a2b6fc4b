// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

namespace switchfold {

/// Takes kernels that one call of a communication library launched one after another on a stream as
/// one, from the first start to the last end: each of them states the whole call's bytes. \pre
/// order_launches() has run.
void join_kernels_of_calls(RawTrace& raw);

}  // namespace switchfold
