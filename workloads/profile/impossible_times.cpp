// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/impossible_times.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000'000;  // ps
constexpr std::uint64_t kLag = 10;                     // of a recording's length

// Clocks of the GPU and its host that are badly aligned make many operations early, not a few.
constexpr std::size_t kFew = 2;
constexpr std::size_t kFewOfAll = 100;

/// Whether it began well before the call that launched it.
bool is_early(const RawGpuEvent& gpu) {
    return gpu.has_launch && gpu.start + kMillisecond < gpu.launch;
}

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
    std::size_t early = 0;
    for (const RawGpuEvent& gpu : raw.gpu.pass()) {
        outside += fits(gpu) ? 0 : 1;
        early += is_early(gpu) ? 1 : 0;
    }
    const bool drop_outside = 2 * outside < raw.gpu.size();
    const bool drop_early = early <= kFew || kFewOfAll * early <= raw.gpu.size();
    std::size_t kept = 0;
    for (const RawGpuEvent& gpu : raw.gpu.pass()) {
        if ((fits(gpu) || !drop_outside) && (!is_early(gpu) || !drop_early))
            raw.gpu[kept++] = gpu;
        else if (gpu.has_launch)
            raw.lost_launches.push_back(gpu.launch);
    }
    if (kept == raw.gpu.size())
        return;
    raw.report
        .dropped["GPU operations with a time far outside the recording, or before their launch"] =
        raw.gpu.size() - kept;
    raw.gpu.shrink(kept);
    std::sort(raw.lost_launches.begin(), raw.lost_launches.end());
}

}  // namespace switchfold
