// SPDX-License-Identifier: Apache-2.0
#include "sim/many_core/offloaded_run.h"

#include "models/coprocessor/program/autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

namespace switchfold {

namespace {

/// Longer times might overflow in sums.
constexpr double kMostSeconds = 1e6;

Time transfer(const DeviceLinkParams& link, std::uint64_t bytes) {
    return bytes == 0 ? Time() : link.latency + serialization_time(Bytes(bytes), link.bandwidth);
}

std::vector<std::uint32_t> cut(std::uint32_t steps, std::uint32_t of_chunk) {
    std::vector<std::uint32_t> chunks;
    for (std::uint32_t left = steps; left > 0; left -= chunks.back())
        chunks.push_back(std::min(left, of_chunk));
    return chunks;
}

}  // namespace

Time rounded_time(double seconds) {
    constexpr double kPicoseconds = 1e12;
    return Time(static_cast<std::uint64_t>(std::llround(seconds * kPicoseconds)));
}

Time time_of(const OffloadedRun& run, offload::Phase phase) {
    Time sum;
    for (std::size_t i = 0; i < run.region_times.size(); ++i)
        if (run.program.regions[i].phase == phase)
            sum += run.region_times[i];
    return sum;
}

namespace {

/// The regions' times and the step; nothing if they are too long.
std::optional<OffloadedRun> run_step(
    const offload::ParallelProgram& program, const ProcessorParams& used,
    const ThreadLayout& layout) {
    OffloadedRun run;
    run.layout = layout;
    const Processor processor(used, layout);
    double seconds = 0;
    for (const offload::Region& region : program.regions) {
        run.regions.push_back(processor.run(region));
        seconds += run.regions.back().total();
        if (!(seconds < kMostSeconds))
            return std::nullopt;
        run.region_times.push_back(rounded_time(run.regions.back().total()));
        run.step += run.region_times.back();
    }
    return run;
}

/// Whether a layout fits the memory and another does not, or has the shorter step; of two that do
/// not fit, whether it needs less.
bool is_better(const OffloadedRun& one, const OffloadedRun& other, const ProcessorParams& used) {
    const auto capacity = static_cast<double>(used.memory.capacity.count());
    const bool fits = one.memory_bytes <= capacity;
    if (fits != (other.memory_bytes <= capacity))
        return fits;
    return fits ? one.step < other.step : one.memory_bytes < other.memory_bytes;
}

/// Sizes of teams to choose from.
std::vector<std::uint32_t> team_sizes(const ManyCoreParams& params, std::uint32_t cores) {
    if (params.team_cores)
        return {*params.team_cores};
    // Library products have no teams, and in nested regions a team is a thread.
    if (params.strategy == offload::Strategy::kLibrary || params.nested_threads > 1)
        return {1};
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t size = 1; size <= cores; ++size)
        sizes.push_back(size);
    return sizes;
}

}  // namespace

OffloadedRun run_offloaded(const ManyCoreParams& params, const DeviceParams& device, bool hidden) {
    offload::ParallelProgram program = offload::training_step(
        {params.widths, params.batch, params.strategy, params.gradients, params.recompute,
         params.returns_code});
    const ProcessorParams& used = *device.processor;
    const bool travels = device.link.has_value();
    const auto moved = static_cast<double>(program.bytes_in + program.bytes_out);
    const std::vector<std::uint32_t> steps_of_chunk = cut(params.steps, params.steps_per_chunk);
    const double shared_bytes = static_cast<double>(program.resident_bytes) +
                                moved * steps_of_chunk.front() * (travels ? params.buffers : 1);
    const std::uint32_t cores = params.cores.value_or(cores_for_programs(device));
    std::optional<OffloadedRun> best;
    for (const std::uint32_t team : team_sizes(params, cores)) {
        ThreadLayout layout = layout_of(
            used, cores, params.threads_per_core.value_or(used.threads_per_core),
            params.nested_threads, team);
        layout.copies_at_once = params.copies_at_once.value_or(0);
        std::optional<OffloadedRun> one = run_step(program, used, layout);
        if (!one)
            continue;
        one->memory_bytes = shared_bytes + static_cast<double>(program.team_bytes * layout.teams());
        if (!best || is_better(*one, *best, used))
            best = std::move(one);
    }
    const double transfers = travels ? moved / static_cast<double>(device.link->bandwidth.count()) +
                                           2 * to_seconds(device.link->latency)
                                     : 0;
    if (!best || !(params.steps * (to_seconds(best->step) + transfers) < kMostSeconds))
        throw std::invalid_argument(
            "the steps take longer than a million seconds; expected fewer samples, smaller layers "
            "or fewer steps");
    OffloadedRun run = std::move(*best);
    run.program = std::move(program);
    run.steps_of_chunk = steps_of_chunk;
    std::vector<OffloadChunk> chunks;
    for (const std::uint32_t steps : run.steps_of_chunk) {
        OffloadChunk& chunk = chunks.emplace_back();
        chunk.compute = run.step * steps;
        if (travels) {
            chunk.in = transfer(*device.link, run.program.bytes_in * steps);
            chunk.out = transfer(*device.link, run.program.bytes_out * steps);
        }
    }
    run.chunks = run_offload(chunks, {params.buffers, hidden});
    return run;
}

std::string why_too_large(const DeviceParams& device, const OffloadedRun& run) {
    const ProcessorParams& used = *device.processor;
    const auto capacity = static_cast<double>(used.memory.capacity.count());
    if (run.memory_bytes <= capacity)
        return {};
    constexpr double kGiga = 1e9;
    const std::string copies =
        run.program.team_bytes > 0
            ? fmt::format(" with the gradients of {} teams", run.layout.teams())
            : "";
    return fmt::format(
        "needs {:.2f} GB{}, and {} has {:.2f} GB; expected fewer samples, smaller layers or fewer "
        "teams",
        run.memory_bytes / kGiga, copies, used.name, capacity / kGiga);
}

}  // namespace switchfold
