// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/window_limits.h"

#include "training/memory/offload/programme.h"

#include <algorithm>
#include <limits>

namespace switchfold {

WindowLimits::WindowLimits(
    const OffloadProblem& problem, const EliminationOrder& order, Effort& effort) :
    problem_(problem), order_(order), effort_(effort) {
    prices_.assign(problem.copies.begin(), problem.copies.end());
    prices_.push_back(0);
    std::sort(prices_.begin(), prices_.end());
    prices_.erase(std::unique(prices_.begin(), prices_.end()), prices_.end());
    const std::uint64_t least = largest_fixed(problem);
    values_.push_back(least);
    // Windows that never bind impose no limit above this.
    for (const OffloadWindow& window : order.windows()) {
        std::vector<std::uint64_t> sums{window.fixed};
        for (const std::uint32_t candidate : window.candidates) {
            const std::size_t many = sums.size();
            for (std::size_t i = 0; i < many; ++i)
                sums.push_back(sums[i] + problem.bytes[candidate]);
            std::sort(sums.begin(), sums.end());
            sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
        }
        for (const std::uint64_t sum : sums)
            if (sum > least)
                values_.push_back(sum);
    }
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
}

std::optional<std::uint64_t>
WindowLimits::most_saved(std::uint64_t capacity, std::size_t begin, std::size_t end) const {
    const std::uint64_t staging = problem_.factor * values_[begin];
    const auto least = least_retained(values_[end - 1]);
    if (staging > capacity || !least || *least > capacity - staging)
        return {};
    const std::vector<OffloadStage> stages = order_.stages(values_[end - 1]);
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t price : prices_) {
        effort_.spend(stages);
        const std::int64_t beyond =
            OffloadProgramme<MostBeyondPrice>(problem_, stages, values_[end - 1], price)
                .last()
                .worth();
        most = std::min(
            most, static_cast<std::uint64_t>(
                      beyond + static_cast<std::int64_t>(price * (capacity - staging))));
    }
    return most;
}

std::optional<std::uint64_t> WindowLimits::least_retained(std::uint64_t limit) const {
    const std::vector<OffloadStage> stages = order_.stages(limit);
    effort_.spend(stages);
    const auto best =
        OffloadProgramme<LeastRetained>(problem_, stages, limit, problem_.total()).best();
    if (!best)
        return {};
    return best->granules;
}

/// The more a window may hold, the fewer candidates must be retained, so the last value of a range
/// gives a lower bound for the whole range.
std::optional<std::size_t>
WindowLimits::first_in(std::uint64_t capacity, std::size_t begin, std::size_t end) const {
    if (begin == end || problem_.factor * values_[begin] > capacity || effort_.exhausted())
        return {};
    const auto least = least_retained(values_[end - 1]);
    if (!least || *least + problem_.factor * values_[begin] > capacity)
        return {};
    if (end - begin == 1)
        return begin;
    const std::size_t middle = begin + (end - begin) / 2;
    if (const auto found = first_in(capacity, begin, middle))
        return found;
    return first_in(capacity, middle, end);
}

std::optional<std::size_t>
WindowLimits::first_that_fits(std::uint64_t capacity, std::size_t from) const {
    return first_in(capacity, from, values_.size());
}

void WindowLimits::least_in(std::size_t begin, std::size_t end, std::uint64_t& least) const {
    if (begin == end || problem_.factor * values_[begin] >= least || effort_.exhausted())
        return;
    const auto retained = least_retained(values_[end - 1]);
    if (!retained || *retained + problem_.factor * values_[begin] >= least)
        return;
    least = std::min(least, *retained + problem_.factor * values_[end - 1]);
    if (end - begin == 1)
        return;
    const std::size_t middle = begin + (end - begin) / 2;
    least_in(begin, middle, least);
    least_in(middle, end, least);
}

std::uint64_t WindowLimits::least_capacity() const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    least_in(0, values_.size(), least);
    return least;
}

std::uint64_t largest_fixed(const OffloadProblem& problem) {
    std::uint64_t most = 0;
    for (const OffloadWindow& window : problem.windows)
        most = std::max(most, window.fixed);
    return most;
}

}  // namespace switchfold
