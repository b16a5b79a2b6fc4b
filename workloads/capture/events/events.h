// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/capture_file.h"
#include "workloads/capture/events/nccl_launches.h"
#include "workloads/profile/event.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace switchfold::capture {

/// Key in EventsReport::dropped for NCCL calls without a captured kernel.
inline constexpr const char* kCallsWithoutKernel = "NCCL calls whose kernel is not in the capture";

/// Information about a capture beyond its events.
struct EventsReport {
    std::map<std::string, std::uint64_t> dropped;  ///< records, by reason
    std::vector<std::string> warnings;
    std::uint64_t made =
        0;  ///< events that stand for parts of a record: messages and their batches
};

/// Passes a capture's records on as events in Kineto's categories, so that the Kineto reader
/// derives dependencies, phases and sizes. `counters` is the rank's second pass or null. Throws
/// ConfigError if the times span more than 213 days, the range of ps in 64 bits.
EventsReport add_events(
    const CaptureFile& capture, const CaptureFile* counters, const CommunicatorRanks& communicators,
    const std::function<void(TraceEvent&)>& add);

}  // namespace switchfold::capture
