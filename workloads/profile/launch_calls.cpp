// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/launch_calls.h"

#include "core/big_sort.h"
#include "workloads/profile/raw_trace.h"

#include <algorithm>
#include <iterator>

namespace switchfold {

void LaunchCalls::add(
    const TraceEvent& call, std::uint32_t thread, CallKind kind, bool launches_kernel) {
    if (!call.correlation)
        return;
    calls_.push_back(
        {*call.correlation, call.start, call.start + call.duration,
         call.external_id.value_or(CpuOperator::kNoId), thread,
         shapes_.add(
             {call.grid.value_or(kUnknownShape), call.block.value_or(kUnknownShape),
              call.shared_memory, kind == CallKind::kLaunchInThreads}),
         kind == CallKind::kLaunchGraph, launches_kernel, false});
}

void LaunchCalls::sort() {
    const auto before = [](const LaunchCall& a, const LaunchCall& b) {
        return a.correlation < b.correlation;
    };
    big_sort(calls_, before);
}

std::vector<std::uint64_t> LaunchCalls::lost() const {
    std::vector<std::uint64_t> lost;
    for (const LaunchCall& call : calls_.pass())
        if (call.launches_kernel && !call.joined)
            lost.push_back(call.start);
    std::sort(lost.begin(), lost.end());
    return lost;
}

const LaunchCall* LaunchCalls::join(std::uint64_t correlation) {
    LaunchCall* const after = std::upper_bound(
        calls_.begin(), calls_.end(), correlation,
        [](std::uint64_t c, const LaunchCall& call) { return c < call.correlation; });
    if (after == calls_.begin() || std::prev(after)->correlation != correlation)
        return nullptr;
    LaunchCall* const found = std::prev(after);
    found->joined = true;
    return found;
}

GpuTask LaunchCalls::shaped(GpuTask task, const LaunchCall& call) const {
    const Shape& shape = shapes_[call.shape];
    if (task.grid == kUnknownShape)
        task.grid = shape.grid;
    if (task.block == kUnknownShape)
        task.block = shape.block;
    if (task.shared_memory == 0)
        task.shared_memory = shape.shared_memory;
    if (!shape.in_threads || task.grid == kUnknownShape || task.block == kUnknownShape)
        return task;
    const auto blocks = [](std::uint32_t threads, std::uint32_t block) {
        return threads / block + (threads % block != 0 ? 1 : 0);
    };
    task.grid = {
        blocks(task.grid.x, task.block.x), blocks(task.grid.y, task.block.y),
        blocks(task.grid.z, task.block.z)};
    return task;
}

}  // namespace switchfold
