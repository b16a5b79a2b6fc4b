// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/missing_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// A communication kernel's event, and what the trace states of it: equal numbers for equal texts.
struct StatedKernel {
    std::size_t event = 0;
    std::uint32_t details = 0;
    std::uint32_t stated = 0;  ///< kNoCall: nothing
};
constexpr std::uint32_t kNoCall = 0;
/// Bounds the search in traces that do not repeat.
constexpr std::size_t kMostInAStep = 2048;

bool has_call(const CollectiveDetails& d) {
    return d.name != 0 || d.call != 0 || d.in_elements != 0 || d.out_elements != 0;
}

auto stated(const CollectiveDetails& d) {
    return std::tuple(
        d.name, d.datatype, d.group_name, d.group_ranks, d.group_size, d.in_elements,
        d.out_elements, d.call, d.call_dims, d.call_types);
}

bool repeats_after(std::size_t period, const std::vector<StatedKernel>& runs) {
    std::vector<std::size_t> seen(period);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].stated == kNoCall)
            continue;
        ++seen[i % period];
        if (i >= period && runs[i - period].stated != kNoCall &&
            runs[i].stated != runs[i - period].stated)
            return false;
    }
    return std::all_of(seen.begin(), seen.end(), [](std::size_t n) { return n >= 2; });
}

/// The fewest runs after which all that have a call repeat. Nothing if they never do, or are too
/// few to tell: every place of the period must be seen twice.
std::optional<std::size_t> period_of(const std::vector<StatedKernel>& runs) {
    const auto known = static_cast<std::size_t>(std::count_if(
        runs.begin(), runs.end(), [](const StatedKernel& run) { return run.stated != kNoCall; }));
    if (known == runs.size())
        return {};  // none is missing
    for (std::size_t period = 1; period <= std::min(known / 2, kMostInAStep); ++period)
        if (repeats_after(period, runs))
            return period;
    return {};
}

}  // namespace

std::uint64_t find_missing_calls(RawTrace& raw) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<StatedKernel>> by_kernel;
    std::map<decltype(stated(CollectiveDetails())), std::uint32_t> numbers;
    std::size_t index = 0;
    for (const RawGpuEvent& gpu : std::as_const(raw.gpu).pass()) {
        if (gpu.work == GpuWork::kCommunication && gpu.details != RawGpuEvent::kNone) {
            const CollectiveDetails& details = raw.collectives[gpu.details];
            const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
            by_kernel[{gpu.task, gpu.stream}].push_back(
                {index, gpu.details,
                 has_call(details) ? numbers.try_emplace(stated(details), next).first->second
                                   : kNoCall});
        }
        ++index;
    }
    std::uint64_t found = 0;
    for (const auto& [kernel, runs] : by_kernel) {
        const auto period = period_of(runs);
        if (!period)
            continue;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (runs[i].stated != kNoCall)
                continue;
            std::size_t like = i % *period;
            while (runs[like].stated == kNoCall)
                like += *period;
            raw.gpu[runs[i].event].details = runs[like].details;
            ++found;
        }
    }
    return found;
}

}  // namespace switchfold
