// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/find_steps.h"

#include <algorithm>
#include <vector>

namespace switchfold {

namespace {

/// A launch reaches an idle GPU within this time, ps.
constexpr std::uint64_t kReaches = 10'000'000;

/// Steps that follow each other with nothing left out between them.
struct Window {
    std::uint64_t start = 0;  ///< on the host's clock
    std::uint64_t end = 0;
    std::uint64_t gpu_start = UINT64_MAX;  ///< of its first operation, on the GPU's clock
    std::uint64_t gpu_end = 0;
    std::uint64_t first_launch = 0;
    std::uint64_t earlier = 0;  ///< by which its host's times move to an earlier time
    std::uint64_t gpu_earlier = 0;
};

class Keeper {
public:
    Keeper(RawTrace& raw, const FoundSteps& found) : raw_(raw), found_(found) {}

    void run() {
        find_windows();
        find_shifts();
        move_events();
        if (windows_.size() > 1)
            move_marks();
        raw_.steps.clear();
        for (std::size_t i = 0; i < found_.steps.size(); ++i) {
            RawStep step = found_.steps[i];
            const Window& window = windows_[window_of_[i]];
            step.start -= window.earlier;
            step.end -= step.end == UINT64_MAX ? 0 : window.earlier;
            raw_.steps.push_back(step);
        }
    }

private:
    void find_windows() {
        window_of_.assign(found_.steps.size(), 0);
        // A step begins a window if something between it and the step before is left out.
        std::vector<bool> apart = found_.apart;
        bool dropped = false;
        std::uint32_t last = FoundSteps::kOutside;
        for (const std::uint32_t step : found_.step_of.pass()) {
            if (step == FoundSteps::kOutside) {
                dropped = true;
                continue;
            }
            if (last != FoundSteps::kOutside && step != last && (dropped || step != last + 1))
                apart[step] = true;
            if (step != last)
                dropped = false;
            last = step;
        }
        for (std::size_t i = 0; i < found_.steps.size(); ++i) {
            if (i == 0 || apart[i]) {
                windows_.emplace_back();
                windows_.back().start = found_.steps[i].start;
            }
            window_of_[i] = windows_.size() - 1;
            windows_.back().end = found_.steps[i].end;
        }
        std::size_t i = 0;
        for (const RawGpuEvent& gpu : raw_.gpu.pass()) {
            const std::uint32_t step = found_.step_of[i++];
            if (step == FoundSteps::kOutside)
                continue;
            Window& window = windows_[window_of_[step]];
            if (window.gpu_start == UINT64_MAX)
                window.first_launch = gpu.launch;
            window.gpu_start = std::min(window.gpu_start, gpu.start);
            window.gpu_end = std::max(window.gpu_end, gpu.end());
        }
    }

    void find_shifts() {
        for (std::size_t w = 1; w < windows_.size(); ++w) {
            const Window& before = windows_[w - 1];
            Window& here = windows_[w];
            here.earlier = before.earlier + (here.start - std::min(here.start, before.end));
            const std::uint64_t launch = here.first_launch - here.earlier;
            const std::uint64_t delay =
                here.gpu_start - std::min(here.gpu_start, here.first_launch);
            const std::uint64_t free = before.gpu_end - before.gpu_earlier;
            const std::uint64_t start = std::max(free, launch + std::min(delay, kReaches));
            here.gpu_earlier =
                std::max(before.gpu_earlier, here.gpu_start - std::min(here.gpu_start, start));
        }
    }

    void move_events() {
        std::size_t kept = 0;
        std::size_t i = 0;
        std::uint64_t left_out = 0;
        for (const RawGpuEvent& gpu : raw_.gpu.pass()) {
            const std::uint32_t step = found_.step_of[i++];
            if (step == FoundSteps::kOutside) {
                ++left_out;
                if (kept == 0) {
                    std::uint64_t& busy = raw_.busy_before[gpu.stream];
                    busy = std::max(busy, gpu.end());
                }
                continue;
            }
            const Window& window = windows_[window_of_[step]];
            RawGpuEvent moved = gpu;
            moved.start -= window.gpu_earlier;
            moved.launch = std::min(moved.launch - window.earlier, moved.start);
            moved.launch_end -= std::min(moved.launch_end, window.earlier);
            raw_.gpu[kept++] = moved;
        }
        raw_.gpu.shrink(kept);
        if (left_out > 0)
            raw_.report.dropped["GPU operations outside the steps"] = left_out;
    }

    /// A time between two windows becomes the end of the first. `start`, `end` and `earlier` are
    /// those of one clock.
    [[nodiscard]] std::uint64_t moved(
        std::uint64_t time, std::uint64_t Window::*start, std::uint64_t Window::*end,
        std::uint64_t Window::*earlier) const {
        const auto after = std::upper_bound(
            windows_.begin(), windows_.end(), time,
            [start](std::uint64_t t, const Window& w) { return t < w.*start; });
        if (after == windows_.begin())
            return time;
        const Window& window = *(after - 1);
        const bool last = after == windows_.end();
        return (last ? time : std::min(time, std::max(window.*end, window.*start))) -
               window.*earlier;
    }
    [[nodiscard]] std::uint64_t on_host(std::uint64_t time) const {
        return moved(time, &Window::start, &Window::end, &Window::earlier);
    }
    [[nodiscard]] std::uint64_t on_gpu(std::uint64_t time) const {
        return moved(time, &Window::gpu_start, &Window::gpu_end, &Window::gpu_earlier);
    }

    void move_marks() {
        for (BigVector<Interval>* marks : {&raw_.forward, &raw_.backward, &raw_.optimizer}) {
            for (Interval& mark : marks->pass())
                mark = {on_host(mark.start), on_host(mark.end)};
            merge_intervals(*marks);
        }
        for (Interval& sync : raw_.syncs.pass())
            sync = {on_host(sync.start), on_host(sync.end)};
        for (StreamWait& wait : raw_.waits.pass())
            wait.start = on_host(wait.start);
        for (Interval& run : raw_.communication.pass())
            run = {on_gpu(run.start), on_gpu(run.end)};
        merge_intervals(raw_.communication);
    }

    RawTrace& raw_;
    const FoundSteps& found_;
    std::vector<Window> windows_;
    std::vector<std::size_t> window_of_;  ///< by step
};

}  // namespace

void keep_steps(RawTrace& raw, const FoundSteps& found) {
    for (const std::string& note : found.notes)
        raw.report.warnings.push_back(note);
    raw.report.steps_from = found.how;
    raw.report.step_numbers.clear();
    for (const RawStep& step : found.steps)
        raw.report.step_numbers.push_back(step.number);
    Keeper(raw, found).run();
}

}  // namespace switchfold
