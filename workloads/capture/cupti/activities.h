// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

namespace switchfold::capture {

/// Makes CUPTI deliver completed activity records to the sink at least every half second. Throws
/// std::runtime_error if CUPTI refuses.
void start_activities(RecordSink& sink);
/// Delivers the records that CUPTI still holds. No effect unless start_activities() was called.
void stop_activities();

}  // namespace switchfold::capture
