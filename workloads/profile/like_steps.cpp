// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/like_steps.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace switchfold {

namespace {

using Works = std::vector<std::uint64_t>;

bool ends_with(const Works& whole, const Works& end) {
    return end.size() <= whole.size() && std::equal(end.rbegin(), end.rend(), whole.rbegin());
}

/// What most steps hold: the longest that occurs most often, if twice. Else what most end with,
/// among those that begin where another ended.
const Works* own_works(const StepWorks& steps) {
    std::map<Works, std::size_t> equal;
    for (const Works& step : steps)
        ++equal[step];
    const Works* own = nullptr;
    std::size_t most = 1;
    for (const auto& [works, count] : equal)
        if (count > most || (count == most && own != nullptr && works.size() > own->size())) {
            own = &*std::find(steps.begin(), steps.end(), works);
            most = count;
        }
    if (own != nullptr)
        return own;
    for (std::size_t i = 1; i < steps.size(); ++i) {
        const auto count = static_cast<std::size_t>(
            std::count_if(steps.begin(), steps.end(), [&](const Works& step) {
                return ends_with(step, steps[i]);
            }));
        if (count > most || (count == most && own != nullptr && steps[i].size() > own->size())) {
            own = &steps[i];
            most = count;
        }
    }
    return own;
}

/// Share of the larger step's works that the other has too.
double alike(Works a, Works b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    Works both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    const std::size_t larger = std::max<std::size_t>(1, std::max(a.size(), b.size()));
    return static_cast<double>(both.size()) / static_cast<double>(larger);
}

}  // namespace

std::uint64_t work_of(const RawGpuEvent& gpu) {
    return std::uint64_t{gpu.task} << 32U | gpu.stream;
}

std::vector<std::size_t> works_before_own(const StepWorks& steps) {
    std::vector<std::size_t> before(steps.size(), 0);
    const Works* const own = own_works(steps);
    if (own == nullptr || own->empty())
        return before;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (ends_with(steps[i], *own))
            before[i] = steps[i].size() - own->size();
    return before;
}

std::size_t steps_in_turn(const StepWorks& steps, const StepWorks& updates) {
    constexpr double kOfOneKind = 0.5;
    const std::size_t n = steps.size();
    for (std::size_t turn = 1; 2 * turn <= n; ++turn) {
        bool repeats = true;
        for (std::size_t i = turn; i < n && repeats; ++i)
            repeats = steps[i] == steps[i - turn];
        if (!repeats)
            continue;
        bool differ = true;
        for (std::size_t i = 1; i < turn; ++i)
            differ = differ && (updates[i] != updates[0] || alike(steps[i], steps[0]) < kOfOneKind);
        return differ ? turn : 1;
    }
    return 1;
}

}  // namespace switchfold
