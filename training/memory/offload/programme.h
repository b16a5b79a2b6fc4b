// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "training/memory/offload/elimination.h"
#include "training/memory/offload/reachable.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace switchfold {

struct OffloadSolution {
    OffloadBest best;
    std::vector<bool> retained;  ///< by candidate
};

/// The dynamic programme over candidates in a given order. A state consists of the flags of
/// candidates that later windows still see; `State` holds the values reachable in it.
template <class State>
class OffloadProgramme {
public:
    /// `most`: limit on a window's offloaded granules; `limit`: passed to the states, the most
    /// retained granules (for MostBeyondPrice: the price).
    OffloadProgramme(
        const OffloadProblem& problem, const std::vector<OffloadStage>& stages, std::uint64_t most,
        std::uint64_t limit) :
        problem_(problem), stages_(stages), most_(most), limit_(limit) {}

    /// Empty: no choice satisfies all windows.
    [[nodiscard]] std::optional<OffloadBest> best() const {
        const State last = this->last();
        if (last.empty())
            return {};
        return last.best();
    }

    /// The state after all candidates.
    [[nodiscard]] State last() const {
        std::vector<State> states{State::start()};
        for (const OffloadStage& stage : stages_)
            states = step(stage, states);
        return std::move(states.front());
    }

    /// The best choice, unless its value is at most `than`. Keeps the states of some stages and
    /// recomputes those in between: keeping all would take gigabytes.
    [[nodiscard]] std::optional<OffloadSolution> better(std::optional<std::uint64_t> than) const {
        const auto stride = static_cast<std::size_t>(std::sqrt(stages_.size())) + 1;
        std::vector<std::vector<State>> kept;
        std::vector<State> states{State::start()};
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            if (i % stride == 0)
                kept.push_back(states);
            states = step(stages_[i], states);
        }
        if (states.front().empty())
            return {};
        const OffloadBest best = states.front().best();
        if (than && best.value <= *than)
            return {};
        states.clear();
        return OffloadSolution{best, go_back(std::move(kept), stride, best)};
    }

private:
    /// A choice that reaches `best`. `kept`: the states before every stride-th stage.
    [[nodiscard]] std::vector<bool>
    go_back(std::vector<std::vector<State>> kept, std::size_t stride, OffloadBest best) const {
        std::vector<bool> retained(problem_.size());
        std::uint32_t at = 0;
        for (std::size_t k = kept.size(); k-- > 0;) {
            const std::size_t first = k * stride;
            const std::size_t last = std::min(stages_.size(), first + stride);
            std::vector<std::vector<State>> between{std::move(kept[k])};
            for (std::size_t i = first; i + 1 < last; ++i)
                between.push_back(step(stages_[i], between.back()));
            for (std::size_t i = last; i-- > first;) {
                const bool retain = go_back(stages_[i], between[i - first], at, best);
                retained[stages_[i].candidate] = retain;
            }
            kept.pop_back();
        }
        return retained;
    }

    [[nodiscard]] bool keeps_windows(const OffloadStage& stage, std::uint32_t flags) const {
        for (const OffloadStage::Check& check : stage.checks) {
            std::uint64_t sum = check.fixed;
            for (const auto& [flag, granules] : check.open)
                sum += (flags >> flag & 1U) != 0 ? 0 : granules;
            if (sum > most_)
                return false;
        }
        return true;
    }

    /// The remaining flags, compacted.
    [[nodiscard]] static std::uint32_t
    without_dropped(const OffloadStage& stage, std::uint32_t flags) {
        for (std::size_t i = stage.dropped.size(); i-- > 0;) {
            const std::uint32_t low = (1U << stage.dropped[i]) - 1;
            flags = (flags & low) | (flags >> 1U & ~low);
        }
        return flags;
    }

    [[nodiscard]] std::uint64_t granules(const OffloadStage& stage, std::uint32_t retain) const {
        return retain * problem_.bytes[stage.candidate];
    }
    [[nodiscard]] std::uint64_t value(const OffloadStage& stage, std::uint32_t retain) const {
        return granules(stage, retain) * problem_.copies[stage.candidate];
    }

    [[nodiscard]] std::vector<State>
    step(const OffloadStage& stage, const std::vector<State>& before) const {
        std::vector<State> after(
            std::size_t{1} << (stage.flags + 1 - static_cast<std::uint32_t>(stage.dropped.size())));
        for (std::uint32_t retain : {1U, 0U})
            for (std::uint32_t s = 0; s < before.size(); ++s) {
                const std::uint32_t flags = s | retain << stage.flags;
                if (!before[s].empty() && keeps_windows(stage, flags))
                    after[without_dropped(stage, flags)].absorb(
                        before[s], granules(stage, retain), value(stage, retain), limit_);
            }
        return after;
    }

    /// Whether the stage's candidate was retained on the way to `best` in state `at`; moves both
    /// back to their values before the stage.
    [[nodiscard]] bool go_back(
        const OffloadStage& stage, const std::vector<State>& before, std::uint32_t& at,
        OffloadBest& best) const {
        for (std::uint32_t retain : {1U, 0U})
            for (std::uint32_t s = 0; s < before.size(); ++s) {
                const std::uint32_t flags = s | retain << stage.flags;
                if (before[s].empty() || without_dropped(stage, flags) != at ||
                    best.granules < granules(stage, retain) || best.value < value(stage, retain) ||
                    !keeps_windows(stage, flags))
                    continue;
                const OffloadBest rest{
                    best.granules - granules(stage, retain), best.value - value(stage, retain)};
                if (before[s].holds(rest)) {
                    at = s;
                    best = rest;
                    return retain != 0;
                }
            }
        SWITCHFOLD_CHECK(false, "a sum that no choice reaches");
        return false;
    }

    const OffloadProblem& problem_;
    std::span<const OffloadStage> stages_;
    std::uint64_t most_;
    std::uint64_t limit_;
};

}  // namespace switchfold
