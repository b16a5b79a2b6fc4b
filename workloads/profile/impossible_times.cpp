// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/impossible_times.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000'000;  // ps
constexpr std::uint64_t kLag = 10;                     // of a recording's length

std::uint64_t added(std::uint64_t a, std::uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// Where the recording's GPU events may lie.
Interval around(Interval host) {
    const std::uint64_t length = host.end - host.start + kMillisecond;
    const std::uint64_t behind = length > UINT64_MAX / kLag ? UINT64_MAX : kLag * length;
    return {
        host.start - std::min(host.start, length),
        added(host.end, added(behind, 100 * kMillisecond))};
}

}  // namespace

void drop_impossible_times(RawTrace& raw, Interval host) {
    if (host.start >= host.end)
        return;
    const Interval possible = around(host);
    const auto fits = [&](const RawGpuEvent& gpu) {
        return gpu.start >= possible.start && gpu.end() <= possible.end;
    };
    std::size_t outside = 0;
    for (const RawGpuEvent& gpu : raw.gpu.pass())
        outside += fits(gpu) ? 0 : 1;
    if (outside == 0 || 2 * outside >= raw.gpu.size())
        return;
    std::size_t kept = 0;
    for (const RawGpuEvent& gpu : raw.gpu.pass()) {
        if (fits(gpu))
            raw.gpu[kept++] = gpu;
        else if (gpu.has_launch)
            raw.lost_launches.push_back(gpu.launch);
    }
    raw.gpu.shrink(kept);
    std::sort(raw.lost_launches.begin(), raw.lost_launches.end());
    raw.report.dropped["GPU operations with a time far outside the recording"] = outside;
}

}  // namespace switchfold
