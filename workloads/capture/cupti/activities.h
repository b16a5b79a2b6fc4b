// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

namespace switchfold::capture {

/// Makes CUPTI hand its activity records to the sink, at least every half second as far as they are
/// complete. Throws std::runtime_error if it refuses.
void start_activities(RecordSink& sink);
/// Hands over what CUPTI still holds. Nothing if start_activities() was not called.
void stop_activities();

}  // namespace switchfold::capture
