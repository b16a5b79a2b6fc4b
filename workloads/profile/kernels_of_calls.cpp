// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/kernels_of_calls.h"

#include <tuple>
#include <vector>

namespace switchfold {

namespace {

auto stated_by(const CollectiveDetails& d) {
    return std::tuple(
        d.name, d.datatype, d.group_name, d.group_ranks, d.group_size, d.in_elements,
        d.out_elements, d.in_splits, d.out_splits, d.to_rank, d.from_rank, d.first_message,
        d.messages);
}

}  // namespace

void join_kernels_of_calls(RawTrace& raw) {
    constexpr std::size_t kNoEvent = SIZE_MAX;
    std::vector<std::size_t> last(raw.streams.size(), kNoEvent);  // kept event, by stream
    std::size_t kept = 0;
    std::uint64_t joined = 0;
    for (std::size_t i = 0; i < raw.gpu.size(); ++i) {
        raw.gpu.forget_at(i);
        const RawGpuEvent gpu = raw.gpu[i];
        std::size_t& before = last[gpu.stream];
        if (gpu.issuer != RawGpuEvent::kNone && before != kNoEvent) {
            RawGpuEvent& first = raw.gpu[before];
            if (first.issuer == gpu.issuer && first.work == gpu.work &&
                stated_by(raw.collectives[first.details]) ==
                    stated_by(raw.collectives[gpu.details])) {
                first.duration = gpu.end() - first.start;
                if (raw.tasks[gpu.task].grid.count() > raw.tasks[first.task].grid.count())
                    first.task = gpu.task;
                ++joined;
                continue;
            }
        }
        before = kept;
        raw.gpu[kept++] = gpu;
    }
    raw.gpu.shrink(kept);
    if (joined > 0)
        raw.report.mended["kernels taken together with the one before, of the same call"] = joined;
}

}  // namespace switchfold
