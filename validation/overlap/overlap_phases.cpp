// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_phases.h"

#include "core/first_ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::validation {

namespace {

/// Bytes assumed for a collective of unknown size: enough for a steady state.
constexpr Bytes kSteady = mebibytes(64);

bool ends_together(CollectiveKind kind) {
    return kind != CollectiveKind::kAllToAll;
}

}  // namespace

Collectives::Collectives(const SystemParams& system, const OverlapTrace& trace) :
    system_(system), trace_(trace), ranks_(std::max(2U, trace.group_size)) {
    for (const CommunicationKernelSeen& kernel : trace.communication) {
        const CollectiveOperation& o = kernel.operation;
        if (o.thread_blocks == 0)
            continue;
        if (o.bytes.count() == 0) {
            auto [at, fresh] = shortest_.try_emplace(
                Place{o.kind, o.thread_blocks, o.threads_per_block, kernel.ordinal},
                kernel.end_us - kernel.start_us);
            if (!fresh)
                at->second = std::min(at->second, kernel.end_us - kernel.start_us);
        }
        measure(o);
    }
}

Collectives::Shape Collectives::shape_of(const CollectiveOperation& operation) {
    return {
        operation.kind, operation.bytes.count(), operation.thread_blocks,
        operation.threads_per_block};
}

void Collectives::measure(const CollectiveOperation& operation) {
    const Shape shape = shape_of(operation);
    if (traffic_.contains(shape) ||
        (!ends_together(operation.kind) && operation.bytes.count() == 0))
        return;
    CollectiveOperation known = operation;
    if (known.bytes.count() == 0)
        known.bytes = kSteady;
    traffic_[shape] = traced_traffic(system_, known, first_ranks(ranks_));
}

CommunicationDraw Collectives::draw_of(const CommunicationKernelSeen& kernel) const {
    CommunicationDraw draw;
    const CollectiveOperation& o = kernel.operation;
    const auto traffic = traffic_.find(shape_of(o));
    if (traffic == traffic_.end())
        return draw;
    draw.bytes_per_second = traffic->second.bytes_per_second;
    draw.footprint = traffic->second.footprint;
    draw.time_us =
        o.bytes.count() > 0
            ? to_microseconds(traffic->second.time)
            : shortest_.at(Place{o.kind, o.thread_blocks, o.threads_per_block, kernel.ordinal});
    return draw;
}

std::vector<CommunicationPhase> Collectives::beside(const OverlappedRun& run) const {
    std::vector<CommunicationPhase> phases;
    // Traffic after the kernel's end may still slow the simulated kernel, which may take longer.
    constexpr double kLonger = 2.0;
    const double until = run.start_us + kLonger * run.duration_us;
    for (const CommunicationKernelSeen& kernel : trace_.communication)
        if (kernel.file == run.file && kernel.device == run.device &&
            kernel.end_us > run.start_us && kernel.start_us < until &&
            kernel.operation.thread_blocks > 0)
            add_phases(
                kernel.operation, draw_of(kernel), ranks_, kernel.start_us - run.start_us,
                kernel.end_us - run.start_us, phases);
    return phases;
}

std::vector<std::string> Collectives::notes() const {
    std::vector<std::string> notes;
    for (const auto& [shape, traffic] : traffic_)
        notes.push_back(fmt::format(
            "{} of {} in {} blocks of {} threads draws {:.0f} GB/s through each L2{}",
            to_string(shape.kind),
            shape.bytes > 0 ? fmt::format("{} B", shape.bytes) : "unknown size", shape.blocks,
            shape.threads, traffic.bytes_per_second * 1e-9,
            shape.bytes > 0 ? fmt::format(" for {:.0f} us", to_microseconds(traffic.time)) : ""));
    return notes;
}

}  // namespace switchfold::validation
