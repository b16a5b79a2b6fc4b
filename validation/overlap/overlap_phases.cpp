// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_phases.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::validation {

namespace {

/// Bytes assumed for a collective of unknown size: enough for a steady state.
constexpr Bytes kSteady = mebibytes(64);

/// Assumed largest slowdown of a collective by kernels beside it (nccl#1433).
constexpr double kSlowestTransfer = 2;

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
    traffic_[shape] = traced_traffic(system_, known, ranks_);
}

Collectives::Draw Collectives::draw_of(const CommunicationKernelSeen& kernel) const {
    Draw draw;
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

void Collectives::add(
    const CommunicationKernelSeen& kernel, double start_us,
    std::vector<CommunicationPhase>& phases) const {
    const CollectiveOperation& o = kernel.operation;
    const Draw draw = draw_of(kernel);
    const double residence = kernel.end_us - kernel.start_us;
    CommunicationPhase phase;
    phase.threads = o.threads_per_block;
    phase.registers_per_thread = o.registers_per_thread;
    phase.shared_memory = o.shared_memory;
    phase.footprint = draw.footprint;
    phase.exchange = !ends_together(o.kind);
    phase.from_us = kernel.start_us - start_us;
    phase.to_us = kernel.end_us - start_us;
    phase.blocks = o.thread_blocks;
    // If the residence is little longer than the transfer, waiting cannot be told from a transfer
    // slowed by the kernels.
    const bool all = residence < kSlowestTransfer * draw.time_us;
    const double moving = all ? residence : draw.time_us;
    const double rate = draw.bytes_per_second * draw.time_us / std::max(moving, 1e-3);
    if (phase.exchange) {
        CommunicationPhase first = phase;
        first.to_us = std::min(phase.to_us, phase.from_us + moving);
        first.bytes_per_second = rate;
        if (first.to_us > first.from_us)
            phases.push_back(first);
        phase.from_us = first.to_us;
        phase.blocks = (phase.blocks + ranks_ - 2) / (ranks_ - 1);
        if (phase.to_us > phase.from_us)
            phases.push_back(phase);
        return;
    }
    phases.push_back(phase);
    phase.blocks = 0;
    phase.from_us = std::max(phase.from_us, phase.to_us - moving);
    phase.bytes_per_second = rate;
    if (rate > 0)
        phases.push_back(phase);
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
            add(kernel, run.start_us, phases);
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
