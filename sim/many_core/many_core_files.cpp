// SPDX-License-Identifier: Apache-2.0
#include "sim/many_core/many_core_files.h"

#include "sim/output/timeline.h"

#include <fmt/format.h>

#include <functional>

namespace switchfold {

namespace {

constexpr std::uint32_t kCompute = 0;
constexpr std::uint32_t kIn = 1;
constexpr std::uint32_t kOut = 2;

std::string_view word_of(offload::Phase phase) {
    switch (phase) {
    case offload::Phase::kForward:
        return "forward";
    case offload::Phase::kBackward:
        return "backward";
    default:
        return "optimizer";
    }
}

/// The dominant work of a region, as a kernel class.
std::string_view class_of(const offload::Region& region) {
    return std::holds_alternative<offload::ElementLoop>(region.parts.front()) ? "elementwise"
                                                                              : "gemm";
}

/// Calls `visit` with each step's index and begin.
void for_each_step(const OffloadedRun& run, const std::function<void(std::uint32_t, Time)>& visit) {
    std::uint32_t step = 0;
    for (std::size_t chunk = 0; chunk < run.chunks.size(); ++chunk)
        for (std::uint32_t i = 0; i < run.steps_of_chunk[chunk]; ++i)
            visit(step++, run.chunks[chunk].compute_begin + run.step * i);
}

class OffloadTimeline {
public:
    OffloadTimeline(TimelineWriter& writer, const RanOffload& ran) :
        writer_(writer), ran_(ran), pid_(writer.add_process(ran.name, 0)) {}

    void add() {
        const OffloadedRun& run = ran_.run;
        for_each_step(run, [&](std::uint32_t step, Time begin) {
            constexpr std::uint32_t kSteps = 3;
            const std::string name = fmt::format("ProfilerStep#{}", step);
            writer_.add_annotation(
                pid_, kSteps, "steps", name, begin.count(), (begin + run.step).count());
            for (std::size_t i = 0; i < run.region_times.size(); ++i) {
                const Time end = begin + run.region_times[i];
                slice(kCompute, "regions", run.program.regions[i].name, "kernel", begin, end);
                begin = end;
            }
        });
        for (const OffloadTimes& t : run.chunks) {
            slice(kIn, "to the coprocessor", "chunk in", "gpu_memcpy", t.in_begin, t.in_end);
            slice(kOut, "to the host", "chunk out", "gpu_memcpy", t.out_begin, t.out_end);
        }
    }

private:
    void slice(
        std::uint32_t stream, std::string_view stream_name, std::string_view name,
        std::string_view category, Time begin, Time end) {
        TimelineSlice s;
        s.stream = stream;
        s.stream_name = stream_name;
        s.name = name;
        s.category = category;
        s.start_ps = begin.count();
        s.end_ps = end.count();
        s.isolated_ps = (end - begin).count();
        s.correlation = ++correlation_;
        writer_.add(pid_, s);
    }

    TimelineWriter& writer_;
    const RanOffload& ran_;
    std::uint32_t pid_;
    std::uint64_t correlation_ = 0;
};

}  // namespace

void write_regions(ResultFolder& folder, const std::vector<RanOffload>& scenarios) {
    TextFile file(folder.stage("kernels.csv"));
    file.write(kernel_csv_header());
    for (const RanOffload& ran : scenarios) {
        std::string block;
        for_each_step(ran.run, [&](std::uint32_t /*step*/, Time begin) {
            for (std::size_t i = 0; i < ran.run.region_times.size(); ++i) {
                const offload::Region& region = ran.run.program.regions[i];
                KernelRow row;
                row.stream = "regions";
                row.name = region.name;
                row.kernel_class = class_of(region);
                row.phase = word_of(region.phase);
                row.start_us = to_microseconds(begin);
                row.duration_us = to_microseconds(ran.run.region_times[i]);
                row.isolated_us = row.duration_us;
                block += kernel_csv_line(ran.name, row);
                begin += ran.run.region_times[i];
            }
        });
        file.write(block);
    }
    file.close();
}

void write_offload_timeline(ResultFolder& folder, const std::vector<RanOffload>& scenarios) {
    const ProcessorParams& first = *scenarios.front().device->processor;
    TimelineWriter writer(folder.stage("timeline.json.gz"), first.name, 1, first.cores);
    for (const RanOffload& ran : scenarios)
        OffloadTimeline(writer, ran).add();
    writer.close();
}

}  // namespace switchfold
