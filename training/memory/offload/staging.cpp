// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/staging.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace switchfold {

std::string_view name_of(Staging staging) {
    for (const auto& [value, name] : kStagingNames)
        if (value == staging)
            return name;
    return {};
}

std::uint64_t OffloadProblem::total() const {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

OffloadProblem offload_problem(const TensorUses& schedule, Staging staging) {
    constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
    OffloadProblem problem;
    problem.factor = staging == Staging::kDoublePeak ? 2 : 1;
    std::vector<std::uint32_t> candidate_of(schedule.items.size(), kNone);
    for (std::uint32_t i = 0; i < schedule.items.size(); ++i) {
        const MemoryItem& item = schedule.items[i];
        if (!item.candidate())
            continue;
        candidate_of[i] = static_cast<std::uint32_t>(problem.size());
        problem.items.push_back(i);
        problem.bytes.push_back(item.bytes);
        problem.copies.push_back(item.copies());
    }
    const std::size_t steps = schedule.steps.size();
    for (std::size_t t = 0; t < steps; ++t) {
        std::set<std::uint32_t> open;
        for (const ItemAccess& access : schedule.steps[t].open)
            open.insert(access.item);
        if (staging == Staging::kWindow)
            for (const ItemAccess& access : schedule.steps[(t + 1) % steps].open)
                open.insert(access.item);
        OffloadWindow window;
        for (const std::uint32_t item : open) {
            if (candidate_of[item] == kNone)
                window.fixed += schedule.items[item].bytes;
            else
                window.candidates.push_back(candidate_of[item]);
        }
        problem.windows.push_back(std::move(window));
    }
    return problem;
}

std::uint64_t offloaded(
    const OffloadProblem& problem, const OffloadWindow& window, const std::vector<bool>& retained) {
    std::uint64_t sum = window.fixed;
    for (const std::uint32_t candidate : window.candidates)
        sum += retained[candidate] ? 0 : problem.bytes[candidate];
    return sum;
}

std::uint64_t staging_bytes(const OffloadProblem& problem, const std::vector<bool>& retained) {
    std::uint64_t most = 0;
    for (const OffloadWindow& window : problem.windows)
        most = std::max(most, offloaded(problem, window, retained));
    return problem.factor * most;
}

std::uint64_t retained_bytes(const OffloadProblem& problem, const std::vector<bool>& retained) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < problem.size(); ++i)
        sum += retained[i] ? problem.bytes[i] : 0;
    return sum;
}

std::uint64_t saved_bytes(const OffloadProblem& problem, const std::vector<bool>& retained) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < problem.size(); ++i)
        sum += retained[i] ? problem.bytes[i] * problem.copies[i] : 0;
    return sum;
}

}  // namespace switchfold
