// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/stream_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace switchfold {

namespace {

// Start and duration are each rounded to whole microseconds, so two ends may differ by this (ps).
constexpr std::uint64_t kRounding = 2'000'000;
constexpr std::uint64_t kMicrosecond = 1'000'000;

bool is_whole(const RawGpuEvent& gpu) {
    return gpu.start % kMicrosecond == 0 && gpu.duration % kMicrosecond == 0;
}

}  // namespace

void part_overlapping(RawTrace& raw) {
    std::vector<std::uint64_t> busy_until(raw.streams.size(), 0);
    std::uint64_t parted = 0;
    std::uint64_t furthest = 0;
    bool whole = true;
    for (RawGpuEvent& gpu : raw.gpu.pass()) {
        whole = whole && is_whole(gpu);
        std::uint64_t& before = busy_until[gpu.stream];
        const std::uint64_t end = gpu.end();
        if (gpu.start < before && (end > before || before - gpu.start <= kRounding)) {
            furthest = std::max(furthest, before - gpu.start);
            gpu.duration = end > before ? end - before : gpu.duration;
            gpu.start = before;
            ++parted;
        }
        before = std::max(before, gpu.end());
    }
    if (parted == 0)
        return;
    raw.report.mended["operations moved behind the one before them on their stream"] = parted;
    raw.report.warnings.push_back(fmt::format(
        "{} began up to {:.3f} us before the one before on the stream had ended ({}): moved to "
        "that "
        "end",
        parted == 1 ? "1 operation" : fmt::format("{} operations", parted),
        to_microseconds(Time(furthest)),
        whole ? "the times are whole microseconds" : "launched ahead, or clock noise"));
}

}  // namespace switchfold
