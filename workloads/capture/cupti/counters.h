// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

namespace switchfold::capture {

/// Counts the DRAM bytes of every kernel that the process launches from here on, except those that
/// wait for other ranks and those of CUDA graphs. Throws std::runtime_error if CUPTI refuses.
void start_counters(RecordSink& sink);
/// Writes what has been counted. Nothing if start_counters() was not called.
void stop_counters();

}  // namespace switchfold::capture
