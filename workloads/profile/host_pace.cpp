// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/host_pace.h"

#include "workloads/profile/raw_trace.h"

#include <map>

namespace switchfold {

namespace {

constexpr std::uint64_t kPause = 1'000'000'000;  // ps

/// Accumulates a mean.
struct Sum {
    std::uint64_t count = 0;
    std::uint64_t time = 0;  ///< ps
    void add(std::uint64_t between) {
        ++count;
        time += between;
    }
    [[nodiscard]] Time mean() const { return Time(count == 0 ? 0 : time / count); }
};

}  // namespace

HostPace host_pace(RawTrace& raw) {
    std::map<std::uint32_t, std::uint64_t> last;  // time of the last launch, by thread
    Sum launches;
    Sum calls;
    std::size_t sync = 0;
    std::uint64_t waited = 0;  // time after the start of the last call that may wait
    for (const RawGpuEvent& event : raw.gpu.pass()) {
        if (!event.has_launch)
            continue;
        for (; sync < raw.syncs.size() && raw.syncs[sync].start < event.launch; ++sync)
            waited = raw.syncs[sync].start + 1;
        const auto [before, first] = last.try_emplace(event.launch_thread, event.launch);
        const std::uint64_t between = event.launch - before->second;
        if (!first && before->second >= waited && between <= kPause)
            (event.work == GpuWork::kCommunication ? calls : launches).add(between);
        before->second = event.launch;
    }
    return {launches.count, launches.mean(), calls.count, calls.mean()};
}

}  // namespace switchfold
