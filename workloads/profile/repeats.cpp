// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/repeats.h"

#include "workloads/profile/classify.h"
#include "workloads/profile/like_steps.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace switchfold {

namespace {

constexpr double kLeastCovered = 0.75;  // of all GPU events
constexpr std::size_t kMostEvents = 1U << 24U;

std::vector<std::uint64_t> works_of(const RawTrace& raw) {
    std::vector<std::uint64_t> works;
    works.reserve(raw.gpu.size());
    for (const RawGpuEvent& gpu : raw.gpu.pass())
        works.push_back(work_of(gpu));
    return works;
}

/// borders[i]: length of the longest proper suffix of the last i works that also begins them,
/// read from the end (the failure function of Knuth, Morris and Pratt).
std::vector<std::uint32_t> borders_from_end(const std::vector<std::uint64_t>& works) {
    const std::size_t n = works.size();
    const auto at = [&](std::size_t i) { return works[n - 1 - i]; };
    std::vector<std::uint32_t> borders(n + 1, 0);
    for (std::size_t i = 1, k = 0; i < n; ++i) {
        while (k > 0 && at(i) != at(k))
            k = borders[k];
        if (at(i) == at(k))
            ++k;
        borders[i + 1] = static_cast<std::uint32_t>(k);
    }
    return borders;
}

/// Layers repeat too, but neither with both passes nor with an optimizer.
bool is_step(const RawTrace& raw, std::size_t first, std::size_t period) {
    bool forward = false;
    bool backward = false;
    std::set<std::uint32_t> tasks;
    for (std::size_t i = first; i < first + period; ++i) {
        const RawGpuEvent& gpu = raw.gpu[i];
        tasks.insert(gpu.task);
        backward = backward || covers(raw.backward, gpu.launch);
        forward = forward || gpu.of_forward || covers(raw.forward, gpu.launch);
    }
    return (forward && backward) ||
           std::any_of(tasks.begin(), tasks.end(), [&](std::uint32_t task) {
               return classify_kernel(raw.texts[raw.tasks[task].name]) == KernelClass::kOptimizer;
           });
}

}  // namespace

std::optional<Repeats> find_repeats(const RawTrace& raw) {
    const std::size_t n = raw.gpu.size();
    if (n < 4 || n > kMostEvents)
        return std::nullopt;
    const std::vector<std::uint32_t> borders = borders_from_end(works_of(raw));
    // The longest end of the trace that repeats: any shorter one that covers enough will do less.
    for (std::size_t length = n;
         static_cast<double>(length) >= kLeastCovered * static_cast<double>(n); --length) {
        const std::size_t period = length - borders[length];
        if (2 * period > length)
            continue;
        const std::size_t count = length / period;
        const std::size_t first = n - count * period;
        if (is_step(raw, first, period))
            return Repeats{first, period, count};
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace switchfold
