// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/record_sink.h"

#include <cupti.h>

#include <functional>
#include <string>

namespace switchfold::capture {

/// The name of an API function by its number; CUPTI's, or a test's.
using CallName = std::function<const char*(CUpti_CallbackDomain domain, CUpti_CallbackId call)>;

enum class Translated : std::uint8_t {
    kWritten,
    kUnwanted,    ///< of a kind that is not recorded
    kIncomplete,  ///< GPU work that had not ended when CUPTI was made to hand it over
};

/// Appends the activity's record to `frames`. Calls of the API that neither launch, copy, wait nor
/// record events are left out, as the readers of traces have no use for them.
Translated translate(
    const CUpti_Activity& activity,
    RecordSink& sink,
    const CallName& call_name,
    std::string& frames);

}  // namespace switchfold::capture
