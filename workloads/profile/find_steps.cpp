// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/find_steps.h"

#include "workloads/profile/repeats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
        raw_(raw), only_(only) {}

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
            // What has no launching call (CUDA graphs) belongs to what was launched before it.
            const std::uint32_t at =
                gpu.has_launch || last == FoundSteps::kOutside ? candidate_at(gpu.launch) : last;
            last = at;
            found_.step_of.push_back(at);
            if (at == FoundSteps::kOutside)
                ++outside_;
            else
                ++contents_[at].gpu;
        }
        for (const std::uint64_t launch : raw_.lost_launches)
            if (const std::uint32_t at = candidate_at(launch); at != FoundSteps::kOutside)
                ++contents_[at].lost;
    }

    bool by_marks() {
        candidates_ = raw_.steps;
        if (candidates_.empty())
            return false;
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
        take(
            {"step that an optimizer ends", "steps that optimizers end"},
            "after the last optimizer's step");
        tell_without_marks();
        return true;
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
    std::vector<RawStep> candidates_;
    std::vector<Content> contents_;
    std::uint64_t outside_ = 0;  ///< GPU events in no candidate
    FoundSteps found_;
};

}  // namespace

FoundSteps find_steps(const RawTrace& raw, const std::vector<std::int64_t>& only) {
    return StepFinder(raw, only).run();
}

}  // namespace switchfold
