// SPDX-License-Identifier: Apache-2.0
#include "sim/run/many_core/offloaded_run.h"

#include "workloads/offload/autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

Time transfer(const OffloadLinkParams& link, std::uint64_t bytes) {
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

OffloadedRun run_offloaded(const ManyCoreParams& params, bool hidden) {
    OffloadedRun run;
    run.program = offload::training_step(
        {params.widths,
         params.batch,
         params.strategy,
         params.gradients,
         params.recompute,
         params.returns_code});
    const ProcessorParams& used = params.processor();
    run.layout = layout_of(
        used,
        params.cores.value_or(used.cores),
        params.threads_per_core.value_or(used.threads_per_core),
        params.nested_threads);
    const Processor processor(used, run.layout);
    for (const offload::Region& region : run.program.regions) {
        run.regions.push_back(processor.run(region));
        run.region_times.push_back(rounded_time(run.regions.back().total()));
        run.step += run.region_times.back();
    }
    const bool travels = params.on == ManyCoreDevice::kCoprocessor;
    std::vector<OffloadChunk> chunks;
    run.steps_of_chunk = cut(params.steps, params.steps_per_chunk);
    for (const std::uint32_t steps : run.steps_of_chunk) {
        OffloadChunk& chunk = chunks.emplace_back();
        chunk.compute = run.step * steps;
        if (travels) {
            chunk.in = transfer(params.link, run.program.bytes_in * steps);
            chunk.out = transfer(params.link, run.program.bytes_out * steps);
        }
    }
    run.chunks = run_offload(chunks, {params.buffers, hidden});
    const std::uint64_t chunk_bytes =
        (run.program.bytes_in + run.program.bytes_out) * run.steps_of_chunk.front();
    run.memory_bytes = run.program.resident_bytes + run.program.team_bytes * run.layout.teams() +
                       chunk_bytes * (travels ? params.buffers : 1);
    return run;
}

std::string why_too_large(const ManyCoreParams& params, const OffloadedRun& run) {
    const ProcessorParams& used = params.processor();
    if (run.memory_bytes <= used.memory.capacity.count())
        return {};
    constexpr double kGiga = 1e9;
    return fmt::format(
        "needs {:.2f} GB with the gradients of {} teams, and {} has {:.2f} GB; expected fewer "
        "samples, smaller layers or fewer teams",
        static_cast<double>(run.memory_bytes) / kGiga,
        run.program.team_bytes > 0 ? run.layout.teams() : 0,
        used.name,
        static_cast<double>(used.memory.capacity.count()) / kGiga);
}

}  // namespace switchfold
