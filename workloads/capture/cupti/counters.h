// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

namespace switchfold::capture {

/// Counts the DRAM bytes of every kernel launched from now on, except kernels that wait for other
/// ranks and those of CUDA graphs. Throws std::runtime_error if CUPTI refuses.
void start_counters(RecordSink& sink);
/// Writes the counters. No effect unless start_counters() was called.
void stop_counters();

}  // namespace switchfold::capture
