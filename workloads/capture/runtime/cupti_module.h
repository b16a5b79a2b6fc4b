// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

namespace switchfold::capture {

/// What libswitchfold-capture-cupti.so exports. It lies apart so that a process without CUPTI, or
/// with one that cannot be loaded, runs on without a capture of its kernels.
constexpr const char* kAttachSymbol = "switchfold_capture_attach";
/// Starts recording to `sink`, kernels' counters instead of times if `counters`. Returns null, or
/// what went wrong in words that live as long as the library.
using AttachFunction = const char* (*)(RecordSink* sink, bool counters);

constexpr const char* kDetachSymbol = "switchfold_capture_detach";
/// Hands all that CUPTI still holds to the sink and stops.
using DetachFunction = void (*)();

}  // namespace switchfold::capture
