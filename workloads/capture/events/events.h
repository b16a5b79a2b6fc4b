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

/// The reason in EventsReport::dropped for calls of NCCL that no kernel carries out.
inline constexpr const char* kCallsWithoutKernel = "NCCL calls whose kernel is not in the capture";

/// What the events of a capture do not say themselves.
struct EventsReport {
    std::map<std::string, std::uint64_t> dropped;  ///< records, by reason
    std::vector<std::string> warnings;
};

/// Hands a capture's records over as events in the categories of Kineto's traces, so that the
/// reader of those finds dependencies, phases and sizes in them. `counters` is the rank's second
/// pass or null. Throws ConfigError if its times span more than the 213 days that ps can.
EventsReport add_events(
    const CaptureFile& capture,
    const CaptureFile* counters,
    const CommunicatorRanks& communicators,
    const std::function<void(TraceEvent&)>& add);

}  // namespace switchfold::capture
