// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics.h"
#include "models/replay/operation_times.h"
#include "sim/machine/link_loads.h"
#include "sim/output/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

struct CollectiveRecord;  // defined in models/collectives/engine.h, which needs SystemC

/// The outcome of one simulation; can be sent between processes.
struct Outcome : SimulationFigures {
    std::vector<std::vector<OperationTimes>> times;  ///< [rank][operation]
    std::vector<CollectiveRecord> collectives;       ///< converted by collective_results()
    std::vector<StatisticTable> statistics;
    std::vector<CounterSample> counters;
    LinkLoads loads;
    std::vector<std::string> notes;
    std::uint64_t end_ps = 0;
    std::uint64_t events = 0;

    // Defined where CollectiveRecord is complete.
    Outcome();
    ~Outcome();
    Outcome(Outcome&& other) noexcept;
    Outcome& operator=(Outcome&& other) noexcept;
    Outcome(const Outcome&) = delete;
    Outcome& operator=(const Outcome&) = delete;
};

}  // namespace switchfold
