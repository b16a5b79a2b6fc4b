// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

#include <cupti.h>

#include <functional>
#include <string>

namespace switchfold::capture {

/// Maps the id of an API function to its name; CUPTI's, or a test's.
using CallName = std::function<const char*(CUpti_CallbackDomain domain, CUpti_CallbackId call)>;

enum class Translated : std::uint8_t {
    kWritten,
    kUnwanted,    ///< its kind is not recorded
    kIncomplete,  ///< GPU work that had not ended when CUPTI was flushed
};

/// Appends the activity's record to `frames`. API calls that neither launch, copy, wait nor record
/// events are skipped; no reader uses them.
Translated translate(
    const CUpti_Activity& activity, RecordSink& sink, const CallName& call_name,
    std::string& frames);

}  // namespace switchfold::capture
