// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/elimination.h"

#include <algorithm>
#include <limits>

namespace switchfold {

namespace {

/// Removes windows that are subsets of another.
std::vector<OffloadWindow>
without_smaller(std::vector<OffloadWindow> windows, std::size_t candidates) {
    std::stable_sort(
        windows.begin(), windows.end(), [](const OffloadWindow& a, const OffloadWindow& b) {
            return a.candidates.size() > b.candidates.size();
        });
    std::vector<OffloadWindow> kept;
    std::vector<std::vector<std::size_t>> seen_by(candidates);
    for (OffloadWindow& window : windows) {
        // Windows that contain this one contain its first candidate.
        const auto& others = seen_by[window.candidates.front()];
        const bool held = std::any_of(others.begin(), others.end(), [&](std::size_t other) {
            return kept[other].fixed >= window.fixed &&
                   std::includes(
                       kept[other].candidates.begin(), kept[other].candidates.end(),
                       window.candidates.begin(), window.candidates.end());
        });
        if (held)
            continue;
        for (const std::uint32_t candidate : window.candidates)
            seen_by[candidate].push_back(kept.size());
        kept.push_back(std::move(window));
    }
    return kept;
}

}  // namespace

/// Decides candidates window by window and tracks the flags still needed.
class EliminationOrder::Walk {
public:
    explicit Walk(const EliminationOrder& owner) :
        owner_(owner),
        open_(owner.windows_.size()),
        touched_(owner.windows_.size()),
        needed_(owner.seen_by_.size()),
        decided_(owner.seen_by_.size()) {
        for (std::size_t w = 0; w < open_.size(); ++w)
            open_[w] = owner.windows_[w].candidates.size();
        for (std::size_t c = 0; c < needed_.size(); ++c)
            needed_[c] = owner.seen_by_[c].size();
    }

    std::uint32_t run(std::size_t start, std::vector<std::uint32_t>& order) {
        for (std::size_t next = start; done_ < open_.size();) {
            for (const std::uint32_t candidate : owner_.windows_[next].candidates)
                if (!decided_[candidate])
                    decide(candidate, order);
            std::erase_if(near_, [&](std::size_t w) { return open_[w] == 0; });
            next = choose();
        }
        for (std::uint32_t c = 0; c < decided_.size(); ++c)
            if (!decided_[c])
                order.push_back(c);
        return most_;
    }

private:
    void decide(std::uint32_t candidate, std::vector<std::uint32_t>& order) {
        decided_[candidate] = true;
        order.push_back(candidate);
        most_ = std::max(most_, ++flags_);
        for (const std::uint32_t w : owner_.seen_by_[candidate]) {
            if (!touched_[w]) {
                touched_[w] = true;
                near_.push_back(w);
            }
            if (--open_[w] > 0)
                continue;
            ++done_;
            for (const std::uint32_t seen : owner_.windows_[w].candidates)
                flags_ -= --needed_[seen] == 0 ? 1 : 0;
        }
    }

    /// Net change of the number of flags when the window is completed.
    [[nodiscard]] std::int64_t change(std::size_t window) const {
        auto more = static_cast<std::int64_t>(open_[window]);
        for (const std::uint32_t seen : owner_.windows_[window].candidates)
            more -= needed_[seen] == 1 ? 1 : 0;
        return more;
    }

    /// The window, among those holding a flag, that leaves the fewest flags; ties go to the one
    /// that has waited longest.
    [[nodiscard]] std::size_t choose() {
        if (near_.empty()) {
            while (untouched_ < touched_.size() && touched_[untouched_])
                ++untouched_;
            return untouched_;
        }
        std::size_t best = near_.front();
        std::int64_t least = change(best);
        for (const std::size_t window : near_)
            if (const std::int64_t more = change(window); more < least) {
                least = more;
                best = window;
            }
        return best;
    }

    const EliminationOrder& owner_;
    std::vector<std::size_t> open_;    ///< undecided candidates, by window
    std::vector<bool> touched_;        ///< windows with a decided candidate
    std::vector<std::size_t> near_;    ///< incomplete ones among these, oldest first
    std::vector<std::size_t> needed_;  ///< number of incomplete windows, by candidate
    std::vector<bool> decided_;
    std::size_t untouched_ = 0;
    std::size_t done_ = 0;
    std::uint32_t flags_ = 0;
    std::uint32_t most_ = 0;
};

EliminationOrder::EliminationOrder(const OffloadProblem& problem, std::uint64_t least) :
    problem_(problem), seen_by_(problem.size()) {
    const std::vector<bool> none(problem.size());
    std::vector<OffloadWindow> binding;
    for (const OffloadWindow& window : problem.windows)
        if (!window.candidates.empty() && offloaded(problem, window, none) > least)
            binding.push_back(window);
    windows_ = without_smaller(std::move(binding), problem.size());
    for (std::uint32_t w = 0; w < windows_.size(); ++w)
        for (const std::uint32_t candidate : windows_[w].candidates)
            seen_by_[candidate].push_back(w);
    width_ = std::numeric_limits<std::uint32_t>::max();
    // Starting in the middle of a chain needs twice the flags of starting at its end.
    constexpr std::size_t kStarts = 24;
    const std::size_t stride = std::max<std::size_t>(1, windows_.size() / kStarts);
    for (std::size_t start = 0; start < std::max<std::size_t>(1, windows_.size());
         start += stride) {
        std::vector<std::uint32_t> order;
        const std::uint32_t width = Walk(*this).run(start, order);
        if (width < width_) {
            width_ = width;
            order_ = std::move(order);
        }
    }
}

std::vector<OffloadStage> EliminationOrder::stages(std::uint64_t most) const {
    std::vector<std::uint32_t> place(problem_.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i)
        place[order_[i]] = i;
    const std::vector<bool> none(problem_.size());
    std::vector<std::vector<std::size_t>> complete(order_.size());  // windows, by place
    std::vector<std::uint32_t> needed_until(order_.size(), 0);      // by place
    std::vector<bool> bound(order_.size());
    for (std::size_t w = 0; w < windows_.size(); ++w) {
        if (offloaded(problem_, windows_[w], none) <= most)
            continue;
        std::uint32_t last = 0;
        for (const std::uint32_t candidate : windows_[w].candidates)
            last = std::max(last, place[candidate]);
        complete[last].push_back(w);
        for (const std::uint32_t candidate : windows_[w].candidates) {
            bound[place[candidate]] = true;
            needed_until[place[candidate]] = std::max(needed_until[place[candidate]], last);
        }
    }
    std::vector<OffloadStage> stages;
    std::vector<std::uint32_t> open;  // places, by flag
    const auto add = [&](std::uint32_t at) {
        OffloadStage stage;
        stage.candidate = order_[at];
        stage.flags = static_cast<std::uint32_t>(open.size());
        open.push_back(at);
        for (const std::size_t w : complete[at]) {
            OffloadStage::Check check{windows_[w].fixed, {}};
            for (const std::uint32_t candidate : windows_[w].candidates) {
                const auto flag = std::find(open.begin(), open.end(), place[candidate]);
                check.open.emplace_back(
                    static_cast<std::uint32_t>(flag - open.begin()), problem_.bytes[candidate]);
            }
            stage.checks.push_back(std::move(check));
        }
        std::vector<std::uint32_t> rest;
        for (std::uint32_t flag = 0; flag < open.size(); ++flag) {
            if (bound[open[flag]] && needed_until[open[flag]] > at)
                rest.push_back(open[flag]);
            else
                stage.dropped.push_back(flag);
        }
        open = std::move(rest);
        stages.push_back(std::move(stage));
    };
    // Candidates in no window come last: they need no flag.
    for (std::uint32_t at = 0; at < order_.size(); ++at)
        if (bound[at])
            add(at);
    for (std::uint32_t at = 0; at < order_.size(); ++at)
        if (!bound[at])
            add(at);
    return stages;
}

}  // namespace switchfold
