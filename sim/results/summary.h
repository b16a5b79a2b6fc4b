// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/profile/intervals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Means over the ranks, per step, us.
struct PhaseTimes {
    double iteration = 0;
    double forward = 0;  ///< busy time of the phase's kernels
    double backward = 0;
    double optimizer = 0;
    double other = 0;        ///< of kernels of no phase
    double collectives = 0;  ///< time with a collective or message issued and not ended
    double exposed = 0;      ///< a collective, send or receive is resident and nothing else runs
    double waiting = 0;      ///< one is resident and waits for a late rank
    double exposed_waiting = 0;            ///< part of the exposed time
    std::optional<double> exposed_copies;  ///< copies to or from the host while no kernel runs
    double blocks = 0;                     ///< mean number of their blocks on a GPU, over time
};
/// For the first `steps` steps; `iteration` is always over the whole run.
[[nodiscard]] PhaseTimes
phase_times(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps);

/// Of a collective or transfer in results: group, kind and its number.
[[nodiscard]] std::string name_of(const ExecutionGraph& graph, const CollectiveRecord& record);

[[nodiscard]] std::vector<CollectiveResult>
collective_results(const ExecutionGraph& graph, const Outcome& outcome);

/// Intervals in which collectives, sends or receives were resident on a rank, merged.
[[nodiscard]] std::vector<Interval>
communication_stretches(const RankGraph& rank, const std::vector<OperationTimes>& times);

/// Calls visit(KernelRow) for every kernel, rank by rank.
template <class Visit>
void for_each_kernel(const ExecutionGraph& graph, const Outcome& outcome, Visit visit) {
    for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
        const RankGraph& rank = *graph.ranks[r];
        const auto resident = communication_stretches(rank, outcome.times[r]);
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            const auto* kernel = std::get_if<KernelOperation>(&operation.body);
            if (kernel == nullptr)
                continue;
            const std::uint64_t start = outcome.times[r][i].start.count();
            const std::uint64_t end = outcome.times[r][i].end.count();
            KernelRow row;
            row.rank = r;
            row.stream = rank.streams[operation.stream].name;
            row.name = graph.names[operation.name];
            row.kernel_class = to_string(kernel->kernel_class);
            row.phase = to_string(operation.phase);
            row.start_us = static_cast<double>(start) * 1e-6;
            row.duration_us = static_cast<double>(end - start) * 1e-6;
            row.isolated_us = to_microseconds(kernel->isolated);
            row.overlapped_share = end > start
                                       ? static_cast<double>(covered(resident, start, end)) /
                                             static_cast<double>(end - start)
                                       : 0.0;
            row.bytes_read = kernel->bytes_read.count();
            row.bytes_written = kernel->bytes_written.count();
            row.flops = kernel->flops;
            visit(row);
        }
    }
}

/// Calls visit(PassRow) for every pass, rank by rank.
template <class Visit>
void for_each_pass(const ExecutionGraph& graph, const Outcome& outcome, Visit visit) {
    for (std::uint32_t r = 0; r < graph.ranks.size(); ++r)
        for (const Span& span : graph.ranks[r]->spans) {
            const Time start = outcome.times[r][span.first].start;
            PassRow row;
            row.rank = r;
            row.pass = graph.names[span.name];
            row.phase = to_string(span.phase);
            row.start_us = to_microseconds(start);
            row.duration_us = to_microseconds(outcome.times[r][span.last].end - start);
            visit(row);
        }
}

}  // namespace switchfold
