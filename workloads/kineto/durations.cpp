// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/classify.h"
#include "workloads/kineto/raw_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace switchfold {

namespace {

std::uint64_t median(std::vector<std::uint64_t>& values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half]
                                  : values[half - 1] + (values[half] - values[half - 1]) / 2;
}

/// A synthetic trace's durations are those of kernels alone, whatever runs beside them.
void take_modelled_durations(
    const RawTrace& raw, RankGraph& graph, const std::vector<std::uint32_t>& operation_of) {
    for (std::size_t i = 0; i < raw.gpu.size(); ++i)
        if (auto* kernel = std::get_if<KernelOperation>(&graph.operations[operation_of[i]].body)) {
            kernel->measured = Time(raw.gpu[i].event.duration);
            kernel->isolated = kernel->measured;
            kernel->duration_source = DurationSource::kModel;
        }
}

}  // namespace

std::string identity_of(const RawGpuEvent& gpu) {
    const TraceEvent& e = gpu.event;
    const Dim3 grid = e.grid.value_or(Dim3{});
    const Dim3 block = e.block.value_or(Dim3{});
    return fmt::format(
        "{}|{},{},{}|{},{},{}|{}|{}|{}|{}|{}",
        e.name,
        grid.x,
        grid.y,
        grid.z,
        block.x,
        block.y,
        block.z,
        e.shared_memory,
        e.registers_per_thread,
        gpu.launching_op,
        gpu.input_dims,
        gpu.has_launch ? fmt::format("{}", gpu.launch_thread) : "");
}

void set_isolated_durations(
    const RawTrace& raw, RankGraph& graph, const std::vector<std::uint32_t>& operation_of) {
    if (raw.report.synthetic) {
        take_modelled_durations(raw, graph, operation_of);
        return;
    }
    struct Occurrence {
        std::size_t raw;
        std::uint32_t ordinal;  ///< within its step
        bool alone;
    };
    std::map<std::string, std::vector<Occurrence>> groups;
    std::map<std::string, std::map<std::uint32_t, std::uint32_t>> counts;
    for (std::size_t i = 0; i < raw.gpu.size(); ++i) {
        const RawGpuEvent& gpu = raw.gpu[i];
        if (!std::holds_alternative<KernelOperation>(graph.operations[operation_of[i]].body))
            continue;
        const std::string key = identity_of(gpu);
        const std::uint32_t step = graph.operations[operation_of[i]].step;
        const std::uint64_t start = gpu.event.start;
        const bool alone = covered(raw.communication, start, start + gpu.event.duration) == 0;
        groups[key].push_back({i, counts[key][step]++, alone});
    }
    for (auto& [key, occurrences] : groups) {
        const auto& per_step = counts[key];
        const bool even = std::all_of(per_step.begin(), per_step.end(), [&](const auto& entry) {
            return entry.second == per_step.begin()->second;
        });
        // The same kernel of the same layer first; any of its occurrences if no step ran that one
        // alone.
        std::map<std::uint32_t, std::vector<std::uint64_t>> by_ordinal;
        std::vector<std::uint64_t> all;
        for (const Occurrence& o : occurrences)
            if (o.alone) {
                const std::uint64_t duration = raw.gpu[o.raw].event.duration;
                all.push_back(duration);
                if (even)
                    by_ordinal[o.ordinal].push_back(duration);
            }
        for (const Occurrence& o : occurrences) {
            auto& kernel = std::get<KernelOperation>(graph.operations[operation_of[o.raw]].body);
            kernel.measured = Time(raw.gpu[o.raw].event.duration);
            if (o.alone) {
                kernel.isolated = kernel.measured;
                kernel.duration_source = DurationSource::kMeasuredAlone;
                continue;
            }
            const auto same = by_ordinal.find(o.ordinal);
            if (same != by_ordinal.end()) {
                kernel.isolated = Time(median(same->second));
                kernel.duration_source = DurationSource::kOtherOccurrence;
            } else if (!all.empty()) {
                kernel.isolated = Time(median(all));
                kernel.duration_source = DurationSource::kOtherOccurrence;
            } else {
                kernel.isolated = kernel.measured;
                kernel.duration_source = DurationSource::kMeasuredOverlapped;
            }
        }
    }
}

}  // namespace switchfold
