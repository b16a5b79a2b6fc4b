// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/first_fit.h"

#include "core/error.h"
#include "core/random_stream.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

class FirstFit {
public:
    FirstFit(
        const OffloadProblem& problem, std::uint64_t capacity,
        std::span<const std::uint32_t> order) :
        problem_(problem),
        capacity_(capacity),
        order_(order),
        retained_(problem.size()),
        rest_(problem.total()) {
        for (const OffloadWindow& window : problem.windows)
            open_.push_back(offloaded(problem, window, retained_));
    }

    std::optional<std::vector<bool>> run() {
        find_peak();
        if (capacity_ < 2 * peak_)
            return {};
        while (rest_ > 0) {
            if (used_ + rest_ + 2 * peak_ <= capacity_) {
                retained_.assign(retained_.size(), true);
                break;
            }
            if (!retain_in_peak() && !retain_what_fits())
                break;
            find_peak();
        }
        return retained_;
    }

private:
    void find_peak() {
        const auto most = std::max_element(open_.begin(), open_.end());
        at_ = static_cast<std::size_t>(most - open_.begin());
        peak_ = *most;
        second_ = 0;
        for (std::size_t t = 0; t < open_.size(); ++t)
            if (t != at_)
                second_ = std::max(second_, open_[t]);
    }

    void retain(std::uint32_t candidate) {
        retained_[candidate] = true;
        used_ += problem_.bytes[candidate];
        rest_ -= problem_.bytes[candidate];
        for (std::size_t t = 0; t < open_.size(); ++t)
            if (opens(t, candidate))
                open_[t] -= problem_.bytes[candidate];
    }

    [[nodiscard]] bool opens(std::size_t step, std::uint32_t candidate) const {
        const auto& candidates = problem_.windows[step].candidates;
        return std::binary_search(candidates.begin(), candidates.end(), candidate);
    }

    bool retain_in_peak() {
        for (const std::uint32_t candidate : order_) {
            const std::uint64_t bytes = problem_.bytes[candidate];
            if (!retained_[candidate] && opens(at_, candidate) &&
                used_ + bytes + 2 * std::max(peak_ - bytes, second_) <= capacity_) {
                retain(candidate);
                return true;
            }
        }
        return false;
    }

    bool retain_what_fits() {
        bool any = false;
        for (const std::uint32_t candidate : order_)
            if (!retained_[candidate] &&
                used_ + problem_.bytes[candidate] + 2 * peak_ <= capacity_) {
                retain(candidate);
                any = true;
            }
        return any;
    }

    const OffloadProblem& problem_;
    std::uint64_t capacity_;
    std::span<const std::uint32_t> order_;
    std::vector<bool> retained_;
    std::vector<std::uint64_t> open_;  ///< offloaded bytes, by step
    std::uint64_t used_ = 0;
    std::uint64_t rest_;  ///< offloaded bytes of all candidates
    std::size_t at_ = 0;
    std::uint64_t peak_ = 0;
    std::uint64_t second_ = 0;
};

}  // namespace

std::vector<std::uint32_t> access_order(const TensorUses& schedule, const OffloadProblem& problem) {
    std::vector<std::uint32_t> order;
    std::vector<bool> seen(schedule.items.size());
    std::vector<std::uint32_t> candidate_of(schedule.items.size());
    for (std::uint32_t i = 0; i < problem.items.size(); ++i)
        candidate_of[problem.items[i]] = i;
    for (const LayerUse& step : schedule.steps)
        for (const ItemAccess& access : step.open)
            if (schedule.items[access.item].candidate() && !seen[access.item]) {
                seen[access.item] = true;
                order.push_back(candidate_of[access.item]);
            }
    return order;
}

std::vector<std::uint32_t> seeded_order(const OffloadProblem& problem, std::uint64_t seed) {
    std::vector<std::uint32_t> order(problem.size());
    std::iota(order.begin(), order.end(), 0U);
    RandomStream random(seed, "first fit");
    for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

std::optional<std::vector<bool>> first_fit(
    const OffloadProblem& problem, std::uint64_t capacity, std::span<const std::uint32_t> order) {
    SWITCHFOLD_CHECK(
        problem.factor == 2 && !problem.windows.empty() && order.size() == problem.size(),
        "GeePS's rule is of double_peak staging");
    return FirstFit(problem, capacity, order).run();
}

}  // namespace switchfold
