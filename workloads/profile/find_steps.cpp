// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/find_steps.h"

#include "workloads/profile/classify.h"
#include "workloads/profile/like_steps.h"
#include "workloads/profile/repeats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// A step that lost more of its kernels than this is not whole.
constexpr double kLostShare = 0.01;
/// The profiler works between two marks: what is launched in so small a part belongs to the first.
constexpr double kBetweenMarks = 0.05;

/// What a candidate for a step holds.
struct Content {
    std::uint64_t gpu = 0;
    std::uint64_t lost = 0;
    bool trains = false;      ///< it has work of a backward pass or an optimizer
    bool shows_calls = true;  ///< each operation has its own launch: what trains is known
    [[nodiscard]] bool whole() const {
        return static_cast<double>(lost) <= kLostShare * static_cast<double>(lost + gpu);
    }
};

/// A word for one and for several.
struct Noun {
    const char* one;
    const char* several;
    [[nodiscard]] std::string counted(std::size_t count) const {
        return fmt::format("{} {}", count, count == 1 ? one : several);
    }
};

std::string counted_steps(std::uint64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string called(const RawStep& step, std::size_t index) {
    return fmt::format("{}", step.number >= 0 ? step.number : static_cast<std::int64_t>(index));
}

class StepFinder {
public:
    StepFinder(const RawTrace& raw, const std::vector<std::int64_t>& only) :
        raw_(raw),
        only_(only),
        any_launch_(std::any_of(raw.gpu.begin(), raw.gpu.end(), [](const RawGpuEvent& gpu) {
            return gpu.has_launch;
        })) {}

    FoundSteps run() {
        if (!by_marks() && !by_updates() && !by_repeats())
            everything();
        return std::move(found_);
    }

private:
    /// Index of the candidate in which something was launched at `time`; kOutside if in none.
    [[nodiscard]] std::uint32_t candidate_at(std::uint64_t time) const {
        const auto after = std::upper_bound(
            candidates_.begin(), candidates_.end(), time,
            [](std::uint64_t t, const RawStep& s) { return t < s.start; });
        if (after == candidates_.begin())
            return FoundSteps::kOutside;
        const auto at = static_cast<std::uint32_t>(after - candidates_.begin() - 1);
        return time <= candidates_[at].end ? at : FoundSteps::kOutside;
    }

    /// Sets the candidates' contents and the candidate of each GPU event.
    void look_into() {
        contents_.assign(candidates_.size(), {});
        found_.step_of.clear();
        outside_ = 0;
        std::uint32_t last = FoundSteps::kOutside;
        for (const RawGpuEvent& gpu : raw_.gpu.pass()) {
            // What has no launching call (CUDA graphs) belongs to what was launched before it. In a
            // trace without any, its own time is all there is.
            const bool by_time = gpu.has_launch || !any_launch_ || last == FoundSteps::kOutside;
            const std::uint32_t at =
                by_time ? candidate_at(any_launch_ ? gpu.launch : gpu.start) : last;
            last = at;
            found_.step_of.push_back(at);
            if (at == FoundSteps::kOutside) {
                ++outside_;
                continue;
            }
            Content& content = contents_[at];
            ++content.gpu;
            content.trains = content.trains || trains(gpu);
            content.shows_calls = content.shows_calls && gpu.has_launch && !gpu.of_graph;
        }
        for (const std::uint64_t launch : raw_.lost_launches)
            if (const std::uint32_t at = candidate_at(launch); at != FoundSteps::kOutside)
                ++contents_[at].lost;
    }

    [[nodiscard]] bool trains(const RawGpuEvent& gpu) {
        if (covers(raw_.backward, gpu.launch) || covers(raw_.optimizer, gpu.launch))
            return true;
        if (gpu.work != GpuWork::kKernel)
            return false;
        of_optimizer_.resize(raw_.tasks.size());
        std::optional<bool>& known = of_optimizer_[gpu.task];
        if (!known)
            known = classify_kernel(raw_.name_of(gpu)) == KernelClass::kOptimizer;
        return *known;
    }

    bool by_marks() {
        candidates_ = raw_.steps;
        if (candidates_.empty())
            return false;
        for (RawStep& step : candidates_)
            step.marked = true;
        for (std::size_t i = 0; i + 1 < candidates_.size(); ++i) {
            RawStep& here = candidates_[i];
            const RawStep& next = candidates_[i + 1];
            const double length = static_cast<double>(here.end - here.start);
            if (here.end > next.start ||
                static_cast<double>(next.start - here.end) <= kBetweenMarks * length)
                here.end = next.start - (next.start > here.start ? 1 : 0);
        }
        look_into();
        const auto with_work = std::count_if(
            contents_.begin(), contents_.end(), [](const Content& c) { return c.gpu > 0; });
        if (with_work == 0)
            return false;
        take({"step mark", "step marks"}, "outside the step marks");
        return true;
    }

    bool by_updates() {
        if (raw_.updates.empty() || raw_.gpu.empty())
            return false;
        candidates_.clear();
        std::uint64_t start = first_launch();
        for (std::size_t i = 0; i < raw_.updates.size(); ++i) {
            // Several optimizers, one after another, end one step.
            if (i + 1 < raw_.updates.size() &&
                !works_between(raw_.updates[i].end, raw_.updates[i + 1].start))
                continue;
            candidates_.push_back({start, raw_.updates[i].end, -1});
            start = raw_.updates[i].end + 1;
        }
        if (candidates_.size() < 2)
            return false;  // one end tells no length
        look_into();
        leave_out_partial_first();
        leave_out_before_own();
        take_turns_together();
        take(
            {"step that an optimizer ends", "steps that optimizers end"},
            "after the last optimizer's step");
        tell_without_marks();
        tell_unlike();
        return true;
    }

    /// Works of each candidate; with `updates` the optimizer's name that ends it and its works.
    [[nodiscard]] StepWorks works(bool updates) const {
        StepWorks all(candidates_.size());
        std::vector<std::uint64_t> from(candidates_.size(), 0);
        for (const RawUpdate& update : raw_.updates)
            for (std::size_t at = 0; updates && at < from.size(); ++at)
                if (update.end == candidates_[at].end) {
                    from[at] = update.start;
                    all[at].push_back(update.name);
                }
        std::size_t i = 0;
        for (const RawGpuEvent& gpu : raw_.gpu.pass()) {
            const std::uint32_t at = found_.step_of[i++];
            if (at != FoundSteps::kOutside && gpu.launch >= from[at])
                all[at].push_back(work_of(gpu));
        }
        return all;
    }

    /// Between two optimizers' steps there may be an evaluation, or an iteration without one.
    void leave_out_before_own() {
        const std::vector<std::size_t> before = works_before_own(works(false));
        std::vector<std::size_t> seen(before.size(), 0);
        std::vector<std::string> which;
        std::size_t i = 0;
        std::uint64_t left_out = 0;
        for (const RawGpuEvent& gpu : raw_.gpu.pass()) {
            const std::uint32_t at = found_.step_of[i++];
            if (at == FoundSteps::kOutside || before[at] == 0 || seen[at]++ != before[at])
                continue;
            candidates_[at].start = gpu.launch;
            which.push_back(called(candidates_[at], at));
            left_out += before[at];
        }
        if (left_out == 0)
            return;
        found_.notes.push_back(fmt::format(
            "{} before the own work of step{} {} left out: what the others do not have (warm-up, "
            "an evaluation, an iteration whose optimizer was skipped)",
            counted_steps(left_out, "GPU operation"), which.size() == 1 ? "" : "s",
            fmt::join(which, ", ")));
        const std::uint64_t behind = outside_;
        look_into();
        outside_ = behind;
    }

    /// Two optimizers that take turns (of a generator and a discriminator) end one step together.
    void take_turns_together() {
        const std::size_t turn = steps_in_turn(works(false), works(true));
        if (turn == 1)
            return;
        std::vector<RawStep> joined;
        for (std::size_t i = 0; i + turn <= candidates_.size(); i += turn)
            joined.push_back({candidates_[i].start, candidates_[i + turn - 1].end, -1});
        candidates_ = std::move(joined);
        look_into();
        found_.notes.push_back(
            fmt::format("{} optimizers' steps that take turns are one step", turn));
    }

    void tell_unlike() {
        constexpr double kMore = 1.5;
        std::vector<std::uint64_t> sizes;
        for (const Content& content : contents_)
            sizes.push_back(content.gpu);
        std::sort(sizes.begin(), sizes.end());
        if (static_cast<double>(sizes.back()) > kMore * static_cast<double>(sizes.front()))
            found_.notes.push_back(fmt::format(
                "the steps that optimizers end hold {} to {} GPU operations: they may be unlike "
                "iterations, or hold evaluations; step marks (profiler.step()) would tell",
                sizes.front(), sizes.back()));
    }

    /// A recording may begin within a step.
    void leave_out_partial_first() {
        if (candidates_.size() < 3)
            return;
        std::vector<std::uint64_t> others;
        for (std::size_t i = 1; i < contents_.size(); ++i)
            others.push_back(contents_[i].gpu);
        std::nth_element(
            others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2),
            others.end());
        if (2 * contents_.front().gpu >= others[others.size() / 2])
            return;
        found_.notes.push_back(fmt::format(
            "the recording begins within a step: its {} left out",
            counted_steps(contents_.front().gpu, "GPU operation")));
        candidates_.erase(candidates_.begin());
        look_into();
        outside_ = 0;
    }

    bool by_repeats() {
        const auto repeats = find_repeats(raw_);
        if (!repeats)
            return false;
        candidates_.clear();
        for (std::size_t i = 0; i < repeats->count; ++i) {
            const std::size_t first = repeats->first + i * repeats->period;
            const std::size_t next = first + repeats->period;
            const std::uint64_t end =
                next < raw_.gpu.size() ? raw_.gpu[next].launch - 1 : UINT64_MAX;
            candidates_.push_back({raw_.gpu[first].launch, end, -1});
        }
        look_into();
        take(
            {"repetition of one sequence of kernels", "repetitions of one sequence of kernels"},
            "outside the repetitions");
        tell_without_marks();
        return true;
    }

    void tell_without_marks() {
        found_.notes.insert(
            found_.notes.begin(), fmt::format("no step marks; taken instead: {}", found_.how));
    }

    void everything() {
        candidates_ = {{0, UINT64_MAX, -1}};
        look_into();
        found_.steps = {{first_launch(), UINT64_MAX, -1}};
        found_.apart = {false};
        found_.how = "no step marks: everything is one step";
        found_.notes.push_back(found_.how);
        tell_lost(0);
    }

    [[nodiscard]] std::uint64_t first_launch() const {
        return raw_.gpu.empty() ? 0 : raw_.gpu.front().launch;
    }

    [[nodiscard]] bool works_between(std::uint64_t from, std::uint64_t to) const {
        if (!raw_.backward.empty()) {
            const auto next = std::lower_bound(
                raw_.backward.begin(), raw_.backward.end(), from,
                [](const Interval& i, std::uint64_t t) { return i.start < t; });
            return next != raw_.backward.end() && next->start < to;
        }
        return std::any_of(raw_.gpu.begin(), raw_.gpu.end(), [&](const RawGpuEvent& gpu) {
            return gpu.launch > from && gpu.launch < to;
        });
    }

    /// Keeps the candidates that are whole and have GPU work, and says which.
    void take(const Noun& what, const char* where) {
        const bool any_whole =
            std::any_of(contents_.begin(), contents_.end(), [](const Content& c) {
                return c.gpu > 0 && c.whole();
            });
        std::vector<std::uint32_t> place(candidates_.size(), FoundSteps::kOutside);
        std::vector<std::string> empty;
        std::vector<std::string> broken;
        std::vector<std::string> idle;
        const bool any_trains = std::any_of(
            contents_.begin(), contents_.end(), [](const Content& c) { return c.trains; });
        std::uint64_t lost = 0;
        std::uint64_t lost_kept = 0;
        std::size_t others = 0;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const Content& content = contents_[i];
            const RawStep& step = candidates_[i];
            if (content.gpu == 0 && content.lost == 0) {
                empty.push_back(called(step, i));
            } else if (content.gpu == 0 || (any_whole && !content.whole())) {
                broken.push_back(called(step, i));
                lost += content.lost;
            } else if (any_trains && !content.trains && content.shows_calls) {
                idle.push_back(called(step, i));
            } else if (
                !only_.empty() &&
                std::find(only_.begin(), only_.end(), step.number) == only_.end()) {
                ++others;
            } else {
                const bool follows = i > 0 && place[i - 1] != FoundSteps::kOutside;
                place[i] = static_cast<std::uint32_t>(found_.steps.size());
                found_.apart.push_back(!found_.steps.empty() && !follows);
                found_.steps.push_back(step);
                lost_kept += content.lost;
            }
        }
        for (std::uint32_t& at : found_.step_of.pass())
            at = at == FoundSteps::kOutside ? at : place[at];
        found_.how =
            found_.steps.size() == candidates_.size()
                ? what.counted(candidates_.size())
                : fmt::format("{} of {}", found_.steps.size(), what.counted(candidates_.size()));
        const auto because = [&](std::string why) {
            found_.how += (found_.how.find(':') == std::string::npos ? ": " : "; ") + why;
            found_.notes.push_back(std::move(why));
        };
        if (!empty.empty())
            because(fmt::format(
                "step{} {} without GPU work left out", empty.size() == 1 ? "" : "s",
                fmt::join(empty, ", ")));
        if (!broken.empty())
            because(fmt::format(
                "{} no kernel in the trace: step{} {} left out",
                lost == 1 ? "1 launch has" : fmt::format("{} launches have", lost),
                broken.size() == 1 ? "" : "s", fmt::join(broken, ", ")));
        if (!idle.empty())
            because(fmt::format(
                "step{} {} without a backward pass or an optimizer left out",
                idle.size() == 1 ? "" : "s", fmt::join(idle, ", ")));
        if (others > 0)
            because(fmt::format(
                "{} that other ranks did not trace left out", counted_steps(others, "step")));
        if (outside_ > 0)
            because(fmt::format("{} {} left out", counted_steps(outside_, "GPU operation"), where));
        tell_lost(lost_kept);
    }

    void tell_lost(std::uint64_t in_steps) {
        const std::uint64_t lost = candidates_.size() == 1 && found_.steps.front().end == UINT64_MAX
                                       ? raw_.lost_launches.size()
                                       : in_steps;
        if (lost > 0)
            found_.notes.push_back(fmt::format(
                "{} no kernel in the trace: the steps lack them",
                lost == 1 ? "1 launch has" : fmt::format("{} launches have", lost)));
    }

    const RawTrace& raw_;
    const std::vector<std::int64_t>& only_;
    bool any_launch_;
    std::vector<RawStep> candidates_;
    std::vector<Content> contents_;
    std::vector<std::optional<bool>> of_optimizer_;  ///< by task
    std::uint64_t outside_ = 0;                      ///< GPU events in no candidate
    FoundSteps found_;
};

}  // namespace

FoundSteps find_steps(const RawTrace& raw, const std::vector<std::int64_t>& only) {
    return StepFinder(raw, only).run();
}

}  // namespace switchfold
