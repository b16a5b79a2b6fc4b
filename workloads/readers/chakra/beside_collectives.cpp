// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/beside_collectives.h"

#include "workloads/graph/clock_noise.h"
#include "workloads/graph/serial_order.h"
#include "workloads/profile/intervals.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace switchfold::chakra {

namespace {

Interval span(const TraceWorkload::Measured& measured) {
    return {measured.start.count(), measured.end.count()};
}

}  // namespace

void mark_kernels_beside_collectives(
    RankGraph& graph, std::span<const std::uint32_t> kernels,
    const BigVector<TraceWorkload::Measured>& measured) {
    std::vector<Interval> communication;
    for (std::size_t i = 0; i < graph.operations.size(); ++i)
        if (communicates(graph.operations[i]))
            communication.push_back(span(measured[i]));
    merge_intervals(communication);
    for (const std::uint32_t i : kernels) {
        const Interval ran = span(measured[i]);
        // Starts and durations are whole microseconds, so neighbours seem to overlap.
        if (Time(covered(communication, ran.start, ran.end)) > kClockNoise)
            std::get<KernelOperation>(graph.operations[i].body).duration_source =
                DurationSource::kMeasuredOverlapped;
    }
}

}  // namespace switchfold::chakra
