// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/schedule.h"

#include "core/error.h"

#include <algorithm>

namespace switchfold {

Schedule evaluate(const RankGraph& rank, const DurationOf& duration) {
    Schedule schedule;
    schedule.operations.reserve(rank.operations.size());
    std::vector<Time> stream_free(rank.streams.size());
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
        const Operation& operation = rank.operations[i];
        Time ready = stream_free[operation.stream];
        for (const std::uint32_t dependency : operation.dependencies) {
            SWITCHFOLD_CHECK(dependency < i, "operation {} depends on {}", i, dependency);
            ready = std::max(ready, schedule.operations[dependency].end);
        }
        const Time start = ready + operation.gap;
        const Time end = start + duration(i, operation);
        schedule.operations.push_back({start, end});
        stream_free[operation.stream] = end;
        schedule.makespan = std::max(schedule.makespan, end);
    }
    return schedule;
}

Time measured_duration(const Operation& operation) {
    if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
        return kernel->measured;
    if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
        return collective->measured;
    if (const auto* copy = std::get_if<CopyOperation>(&operation.body))
        return copy->isolated;
    if (const auto* host = std::get_if<HostDelayOperation>(&operation.body))
        return host->duration;
    return Time();
}

}  // namespace switchfold
