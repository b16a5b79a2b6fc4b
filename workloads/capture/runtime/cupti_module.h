// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

namespace switchfold::capture {

/// Symbols exported by libswitchfold-capture-cupti.so. It is a separate library so that a process
/// without a loadable CUPTI still runs, only without a capture of its kernels.
constexpr const char* kAttachSymbol = "switchfold_capture_attach";
/// Starts recording to `sink`; with `counters`, the kernels' counters instead of times. Returns
/// null, or an error message that lives as long as the library.
using AttachFunction = const char* (*)(RecordSink* sink, bool counters);

constexpr const char* kDetachSymbol = "switchfold_capture_detach";
/// Passes the records that CUPTI still holds to the sink and stops.
using DetachFunction = void (*)();

}  // namespace switchfold::capture
